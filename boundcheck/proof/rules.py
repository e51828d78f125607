"""The general rules as methods of steps.

`instance` is what a rule says of its terms, for a step whose author leaves the claim to the rule; `general` names the
field with the index for all of whose values a rule uses its source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.language import direction, same
from boundcheck.proof.methods import Combine, Decide, Identity, Method
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2


def at(relation: Any, index: Any, value: Any) -> Any:
    """The inequality or equation with the index replaced, never simplified to a truth value."""
    return relation.func(relation.lhs.subs(index, value), relation.rhs.subs(index, value), evaluate=False)


class Rule(Method):
    """A general rule."""

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """What the rule says of its terms; facts: name -> claim of what the step uses. Raises BadInput."""
        raise NotImplementedError


def _inequality(facts: Mapping[str, Any], name: str) -> Any:
    found = facts.get(name)
    if not isinstance(found, sp.Le | sp.Ge):
        raise BadInput(f"the rule needs the inequality '{name}' among the facts that the step uses.")
    return found


def _fixed(counts: Sequence[Any], *indices: Any) -> None:
    if len({*indices}) < len(indices) or any(count.has(*indices) for count in counts):
        raise BadInput(f"the numbers of terms {', '.join(map(str, counts))} must not depend on an index of the sums.")


# squared norms of a few vectors


@dataclass(frozen=True)
class Jensen(Rule):
    """norm(sum w_i x_i)**2 <= sum w_i norm(x_i)**2 for weights w_i > 0 with sum 1."""

    label = "Jensen's inequality"
    weights: tuple[Any, ...]
    vectors: tuple[Vector, ...]

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these weights and vectors."""
        pairs = list(zip(self.weights, self.vectors, strict=True))
        mean = sum((v * w for w, v in pairs), Vector(()))
        return sp.Le(norm2(mean), sum((w * norm2(v) for w, v in pairs), sp.Integer(0)), evaluate=False)


@dataclass(frozen=True)
class Triangle(Rule):
    """norm(u + v) <= norm(u) + norm(v), with norms as square roots."""

    label = "triangle inequality"
    u: Vector
    v: Vector

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        left, right = sp.sqrt(norm2(self.u + self.v)), sp.sqrt(norm2(self.u)) + sp.sqrt(norm2(self.v))
        return sp.Le(left, right, evaluate=False)


@dataclass(frozen=True)
class Young(Rule):
    """2 <u, v> <= weight * norm(u)**2 + norm(v)**2 / weight, for weight > 0."""

    label = "Young's inequality"
    u: Vector
    v: Vector
    weight: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        right = self.weight * norm2(self.u) + norm2(self.v) / self.weight
        return sp.Le(2 * inner(self.u, self.v), right, evaluate=False)


# sums over an index


@dataclass(frozen=True)
class SumOver(Rule):
    """From a(m) <= b(m) for every 0 <= m < count: the sums over m are ordered alike; so for equations of vectors.

    source: name of the fact or step that holds for every m of this range.
    """

    label, general = "sum over an index", "index"
    source: str
    index: Any
    count: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The summed inequality or vector equality."""
        source = facts.get(self.source)
        if isinstance(source, VectorEquality):
            sides = (vector_total(side, self.index, self.count) for side in (source.left, source.right))
            return VectorEquality(*sides)
        gap = direction(_inequality(facts, self.source))
        return sp.Ge(total(gap, self.index, self.count), 0, evaluate=False)


@dataclass(frozen=True)
class PartialSum(Rule):
    """sum_{j<part} a(j) <= sum_{j<whole} a(j) for a(j) >= 0 and 0 <= part <= whole."""

    label, general = "part of a sum of nonnegative terms", "index"
    term: Any
    index: Any
    part: Any
    whole: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for this term."""
        return sp.Le(*(total(self.term, self.index, n) for n in (self.part, self.whole)), evaluate=False)


@dataclass(frozen=True)
class Accumulation(Rule):
    """From a(m+1) <= a(m) + b(m) for every 0 <= m < count: a(count) <= a(0) + sum_{m<count} b(m).

    source: name of the fact or step that holds for every m of this range; value: a(index), an expression in the index.
    """

    label, general = "increments added up", "index"
    source: str
    value: Any
    index: Any
    count: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality after `count` increments."""
        growth = self.value.subs(self.index, self.index + 1) - self.value
        increment = sp.expand(direction(_inequality(facts, self.source)) + growth)
        start, end = (self.value.subs(self.index, k) for k in (sp.Integer(0), self.count))
        return sp.Le(end, start + total(increment, self.index, self.count), evaluate=False)


@dataclass(frozen=True)
class Telescoping(Rule):
    """From x(m+1) == x(m) + d(m) for every m: x(count) == x(0) + sum_{m<count} d(m); source: the vector equality."""

    label, general = "telescoping sum", "index"
    source: str
    index: Any
    count: Any

    def position(self, source: Any) -> Vector:
        """x(m), from the equation; raises BadInput where it has another form."""
        if not isinstance(source, VectorEquality) or len(source.left.terms) != 1 or source.left.terms[0][1] != 1:
            raise BadInput(f"telescoping needs the vector equality '{self.source}', x(m + 1) == x(m) + d(m).")
        back = source.left.at(self.index, self.index - 1)
        if back == source.left or back.at(self.index, self.index + 1) != source.left:
            raise BadInput(f"the vector equality '{self.source}' is not of the form x(m + 1) == x(m) + d(m).")
        return back

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The telescoped equality."""
        source = facts.get(self.source)
        back = self.position(source)
        increments = vector_total(facts[self.source].right - back, self.index, self.count)
        return VectorEquality(back.at(self.index, self.count), back.at(self.index, 0) + increments)


@dataclass(frozen=True)
class CauchySchwarz(Rule):
    """norm(sum_{m<count} r(m))**2 <= count * sum_{m<count} norm(r(m))**2, for an integer count >= 0."""

    label, general = "Cauchy-Schwarz inequality", "index"
    term: Vector
    index: Any
    count: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these terms."""
        left = norm2(vector_total(self.term, self.index, self.count))
        return sp.Le(left, self.count * total(norm2(self.term), self.index, self.count), evaluate=False)


@dataclass(frozen=True)
class InEpochs(Rule):
    """sum_{t < epochs * length} a(t) <= sum_{e < epochs} sum_{r < length} a(e * length + r); both sides are equal.

    index: t; epoch, rest: the indices of the sums on the right. For the other direction use it for -a.
    """

    label = "sum over quotient and remainder"
    term: Any
    index: Any
    epoch: Any
    epochs: Any
    rest: Any
    length: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two sums."""
        _fixed([self.epochs, self.length], self.epoch, self.rest, self.index)
        inside = self.term.subs(self.index, self.epoch * self.length + self.rest)
        whole = total(self.term, self.index, sp.expand(self.epochs * self.length))
        return sp.Le(whole, total(total(inside, self.rest, self.length), self.epoch, self.epochs), evaluate=False)


@dataclass(frozen=True)
class Shift(Rule):
    """sum_{m<count} a(m) <= sum_{m<count} a(m + 1) + a(0) - a(count); both sides are equal."""

    label = "sum with its index shifted"
    term: Any
    index: Any
    count: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two sums."""
        _fixed([self.count], self.index)
        later, first, last = (self.term.subs(self.index, v) for v in (self.index + 1, 0, self.count))
        whole, shifted = (total(term, self.index, self.count) for term in (self.term, later))
        return sp.Le(whole, shifted + first - last, evaluate=False)


@dataclass(frozen=True)
class Exchange(Rule):
    """sum_{m<count} sum_{r<others} a(m, r) <= sum_{r<others} sum_{m<count} a(m, r); both sides are equal."""

    label = "finite sums exchanged"
    term: Any
    index: Any
    count: Any
    other: Any
    others: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two double sums."""
        _fixed([self.count, self.others], self.index, self.other)
        left = total(total(self.term, self.other, self.others), self.index, self.count)
        right = total(total(self.term, self.index, self.count), self.other, self.others)
        return sp.Le(left, right, evaluate=False)


@dataclass(frozen=True)
class At(Rule):
    """A claim that holds for every value of an index, at one value in its range; source: an inequality."""

    label, general = "one value of an index", "index"
    source: str
    index: Any
    value: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The claim there."""
        return at(_inequality(facts, self.source), self.index, self.value)


@dataclass(frozen=True)
class Induction(Rule):
    """From p(0), and p(k) => p(k + 1) for every integer k >= 0: p(last), for an integer last >= 0.

    base: name of the fact or step that gives p(0); step: name of the one that claims the implication, in the index.
    """

    label, general = "induction", "index"
    base: str
    step: str
    index: Any
    last: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """p(last)."""
        source = facts.get(self.step)
        if not isinstance(source, sp.Implies) or not all(isinstance(p, sp.Rel) for p in source.args):
            raise BadInput(f"induction needs the implication '{self.step}', p({self.index}) => p({self.index} + 1).")
        return at(source.args[0], self.index, self.last)


# powers, limits and calculus


@dataclass(frozen=True)
class PositivePower(Rule):
    """base**exponent > 0 for base > 0 and any real exponent."""

    label = "power of a positive number"
    base: Any
    exponent: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality."""
        return sp.Gt(self.base**self.exponent, 0, evaluate=False)


@dataclass(frozen=True)
class BernoulliPower(Rule):
    """(base + 1)**(-p) >= (1 - p/base) * base**(-p) for base > 0 and a real p >= 0: its tangent at the base."""

    label = "Bernoulli's inequality"
    base: Any
    power: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality."""
        below = (1 - self.power / self.base) * self.base**-self.power
        return sp.Ge((self.base + 1) ** -self.power, below, evaluate=False)


@dataclass(frozen=True)
class LimitSuperior(Rule):
    """From value(m) <= bound + factor * (m + shift)**(-rate) for every integer m >= 0: limit <= bound.

    limit: a symbol for the limit superior of value(m) as m grows, which the proof names among what it rests on. source:
    name of the fact or step. bound, factor, shift and rate do not depend on m; the shift and the rate are positive.
    """

    label, general = "limit superior by comparison", "index"
    source: str
    limit: Any
    value: Any
    bound: Any
    factor: Any
    shift: Any
    rate: Any
    index: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The bound on the limit."""
        return sp.Le(self.limit, self.bound, evaluate=False)


@dataclass(frozen=True)
class Limit(Rule):
    """From a(e) <= b(e) for every 0 < e < 1, both polynomial in e: a(0) <= b(0); source: what holds for such e."""

    label, general = "limit of an inequality", "variable"
    source: str
    variable: Any

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality at 0."""
        gap = direction(_inequality(facts, self.source))
        return sp.Ge(gap.subs(self.variable, 0), 0, evaluate=False)


@dataclass(frozen=True)
class MeanValue(Rule):
    """From q'(t) >= slope for every start <= t <= 1: q(1) - q(start) >= slope * (1 - start), for start < 1.

    path: q, rational in `variable` and in functions of it; source: the fact or step that bounds its derivative.
    """

    label, general = "mean value theorem", "variable"
    path: Any
    variable: Any
    slope: Any
    start: Any
    source: str

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The increase is at least slope times length; raises BadInput where the source bounds something else."""
        slope = sp.diff(self.path, self.variable) - self.slope
        if not same(direction(_inequality(facts, self.source)), slope):
            raise BadInput(f"'{self.source}' does not bound the derivative of {self.path} by {self.slope}.")
        rise = self.path.subs(self.variable, 1) - self.path.subs(self.variable, self.start)
        return sp.Ge(rise, self.slope * (1 - self.start), evaluate=False)


# methods that conclude from what the step uses alone, so that values at which that holds and the claim fails refute it
FROM_FACTS_ALONE: tuple[type, ...] = (
    *(Combine, Decide, Identity, Young, Jensen, Triangle),
    *(CauchySchwarz, SumOver, PartialSum, Telescoping, Accumulation),
)
