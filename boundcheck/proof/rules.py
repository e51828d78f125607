"""General rules, instantiated on explicit terms and checked mechanically each time they are used.

A rule makes an instance (a relation or vector equality) and obligations. The step's claim must be identical to the
instance, and every obligation is decided by the scalar or the Gram kernel from the facts of the step. No inequality
of a paper is a rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.gram import Combine, contradictory, prepare
from boundcheck.proof.identity import same
from boundcheck.proof.polynomial import direction, rational_parts
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Finding, Setting, Status
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

__all__ = [
    "CauchySchwarz",
    "Jensen",
    "Limit",
    "MeanValue",
    "PartialSum",
    "Rule",
    "SumOver",
    "Telescoping",
    "Triangle",
    "Young",
]

Obligation = tuple[Any, Mapping[str, Any]]  # a relation, and facts of its own besides the scalar facts of the step


class Rule(ABC):
    """A general rule; subclasses give `label`, `instance` and `obligations`."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What the report calls it."""

    @abstractmethod
    def instance(self, facts: Mapping[str, Any]) -> Any:
        """What the rule says of the explicit terms."""

    @abstractmethod
    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """What must hold for the instance to hold."""

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]] | None:
        """(index, relations in `value`) when the rule uses a source for every value of the index that meets them."""
        return None

    def counts(self) -> tuple[Any, ...]:
        """What must be integers."""
        return ()

    def _ranges(self, setting: Setting) -> Iterator[Obligation]:
        """That every value that the rule uses is one for which the claims with the index hold."""
        value = sp.Symbol("_value", real=True)
        covered = self.covered(value)
        if covered is not None:
            index, relations = covered
            given = {f"_covered{k}": r for k, r in enumerate(relations)}
            for symbol, relation in setting.ranges:
                if symbol == index:
                    yield relation.xreplace({index: value}), given

    def check(self, claim: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
        """PROVED when the claim is the instance and all obligations are; else the first obligation that is not."""
        text = str(claim)
        if not _identical(claim, self.instance(facts), facts):
            note = f"the claim is not what the rule gives, which is {self.instance(facts)}"
            return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        for count in self.counts():
            if not _whole(count, setting):
                note = f"that {count} is an integer is not known"
                return Finding(Status.UNDECIDED, "no decision", note=note, claim=text)
        parts: list[Finding] = []
        for relation, own in (*self.obligations(facts), *self._ranges(setting)):
            scalar = {k: f for k, f in facts.items() if not isinstance(f, VectorEquality)}
            found = _oblige(relation, scalar | dict(own), setting)
            if found.status is not Status.PROVED:
                return Finding(Status.UNDECIDED, "no decision", note=f"not shown: {relation}", claim=text,
                               vacuous=found.vacuous, parts=(*parts, found))  # fmt: skip
            parts.append(found)
        if contradictory(prepare(sp.true, facts)[1], setting):
            return Finding(Status.UNDECIDED, "vacuous", vacuous=True, note="the hypotheses cannot all be met",
                           claim=text)  # fmt: skip
        return Finding(Status.PROVED, self.label, {"kind": "rule", "rule": self.label}, parts=tuple(parts), claim=text)


def _whole(count: Any, setting: Setting) -> bool:
    """Whether the expression is an integer: a polynomial with integer coefficients in integer symbols."""
    if not all(s.name in setting.integers for s in count.free_symbols):
        return False
    if not count.free_symbols:
        return bool(count.is_Integer)
    return all(c.is_Integer for c in sp.Poly(count, *count.free_symbols).coeffs()) if count.is_polynomial() else False


def _oblige(relation: Any, facts: Mapping[str, Any], setting: Setting) -> Finding:
    if isinstance(relation, VectorEquality) or relation.has(sp.Function):
        return Combine().check(relation, facts, setting)
    return decide(relation, facts, setting)


def _identical(claim: Any, instance: Any, facts: Mapping[str, Any]) -> bool:
    if isinstance(claim, VectorEquality) != isinstance(instance, VectorEquality):
        return False
    if isinstance(claim, VectorEquality):
        return not (claim.left - claim.right - instance.left + instance.right).terms
    equations = {k: f for k, f in facts.items() if isinstance(f, sp.Eq | VectorEquality)}
    claim, instance = prepare(claim, equations)[0], prepare(instance, equations)[0]
    if claim in (sp.true, sp.false):
        return claim is sp.true
    (mine, first), (theirs, second) = direction(claim), direction(instance)
    return first == second and same(mine, theirs)


@dataclass(frozen=True)
class Young(Rule):
    """2 <u, v> <= weight * norm(u)**2 + norm(v)**2 / weight, for weight > 0."""

    u: Vector
    v: Vector
    weight: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Young's inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        right = self.weight * norm2(self.u) + norm2(self.v) / self.weight
        return sp.Le(2 * inner(self.u, self.v), right, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The weight is positive, and the matrix [[weight, -1], [-1, 1/weight]] positive semidefinite."""
        yield sp.Gt(self.weight, 0), {}
        a, b = vector("_u"), vector("_v")
        yield sp.Ge(self.weight * norm2(a) - 2 * inner(a, b) + norm2(b) / self.weight, 0, evaluate=False), {}


@dataclass(frozen=True)
class Jensen(Rule):
    """norm(sum w_i x_i)**2 <= sum w_i norm(x_i)**2 for weights w_i > 0 with sum 1."""

    weights: tuple[Any, ...]
    vectors: tuple[Vector, ...]

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Jensen's inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these weights and vectors."""
        pairs = list(zip(self.weights, self.vectors, strict=True))
        mean = sum((v * w for w, v in pairs), Vector(()))
        return sp.Le(norm2(mean), sum((w * norm2(v) for w, v in pairs), sp.Integer(0)), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """Positive weights with sum 1, and the matrix diag(w) - w w' positive semidefinite."""
        for weight in self.weights:
            yield sp.Gt(weight, 0), {}
        yield sp.Eq(sp.expand(sum(self.weights, sp.Integer(0))), 1), {}
        atoms = [vector(f"_x{i}") for i in range(len(self.weights))]
        pairs = list(zip(self.weights, atoms, strict=True))
        mean = sum((v * w for w, v in pairs), Vector(()))
        spread = sum((w * norm2(v) for w, v in pairs), sp.Integer(0)) - norm2(mean)
        yield sp.Ge(spread, 0, evaluate=False), {}


@dataclass(frozen=True)
class CauchySchwarz(Rule):
    """norm(sum_{m<count} r(m))**2 <= count * sum_{m<count} norm(r(m))**2, for an integer count >= 0."""

    term: Vector
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "Cauchy-Schwarz inequality"

    def counts(self) -> tuple[Any, ...]:
        """The number of terms and the index."""
        return (self.count, self.index)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these terms."""
        left = norm2(vector_total(self.term, self.index, self.count))
        return sp.Le(left, self.count * total(norm2(self.term), self.index, self.count), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0 (0 terms: both sides 0), and the step from k >= 1 terms to k + 1.

        With R the sum and Q the sum of squares of k terms, k*Q >= norm(R)**2 must give
        (k + 1)*(Q + norm(r)**2) >= norm(R + r)**2; one term gives an equation.
        """
        yield sp.Ge(self.count, 0), {}
        k = sp.Symbol("_k", real=True)
        sum_, last, squares = (vector(n) for n in ("_R", "_r", "_q"))
        q = norm2(squares)  # any number that is at least 0 is a squared norm
        before = {"_before": sp.Ge(k * q, norm2(sum_), evaluate=False), "_k": sp.Ge(k, 1)}
        yield sp.Ge((k + 1) * (q + norm2(last)), norm2(sum_ + last), evaluate=False), before


@dataclass(frozen=True)
class SumOver(Rule):
    """From a(m) <= b(m) for every 0 <= m < count: the sums over m are ordered alike.

    source: name of the fact or step that holds for every m of this range.
    """

    source: str
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "sum of inequalities"

    def counts(self) -> tuple[Any, ...]:
        """The number of terms and the index."""
        return (self.count, self.index)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.count - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The summed inequality; raises BadInput where the source is not an inequality."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the sum needs the inequality '{self.source}' among the facts that the step uses.")
        gap, _ = direction(source)
        return sp.Ge(total(gap, self.index, self.count), 0, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0; each closed form of a sum has been checked by induction already."""
        yield sp.Ge(self.count, 0), {}


@dataclass(frozen=True)
class PartialSum(Rule):
    """sum_{j<part} a(j) <= sum_{j<whole} a(j) for a(j) >= 0 and 0 <= part <= whole."""

    term: Any
    index: Any
    part: Any
    whole: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "part of a sum of nonnegative terms"

    def counts(self) -> tuple[Any, ...]:
        """The numbers of terms and the index."""
        return (self.part, self.whole, self.index)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for this term."""
        sums = (total(self.term, self.index, count) for count in (self.part, self.whole))
        return sp.Le(*sums, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The bounds are ordered and the term is at least 0."""
        yield sp.Ge(self.part, 0), {}
        yield sp.Le(self.part, self.whole), {}
        yield sp.Ge(self.term, 0, evaluate=False), {}


@dataclass(frozen=True)
class Telescoping(Rule):
    """From x(m+1) == x(m) + d(m) for every m: x(count) == x(0) + sum_{m<count} d(m).

    source: name of the vector equality; count must be at least 0.
    """

    source: str
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "telescoping sum"

    def _parts(self, facts: Mapping[str, Any]) -> tuple[Vector, Vector]:
        source = facts.get(self.source)
        if not isinstance(source, VectorEquality) or len(source.left.terms) != 1:
            raise BadInput(f"telescoping needs the vector equality '{self.source}', x(m + 1) == x(m) + d(m).")
        back = source.left.at(self.index, self.index - 1)
        increment = source.right - back
        if source.left.terms[0][1] != 1 or back.at(self.index, self.index + 1) != source.left:
            raise BadInput(f"the vector equality '{self.source}' is not of the form x(m + 1) == x(m) + d(m).")
        return back, increment

    def counts(self) -> tuple[Any, ...]:
        """The number of terms and the index."""
        return (self.count, self.index)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.count - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The telescoped equality."""
        position, increment = self._parts(facts)
        end, start = position.at(self.index, self.count), position.at(self.index, 0)
        return VectorEquality(end, start + vector_total(increment, self.index, self.count))

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0; the increment must not hide the position itself."""
        position, increment = self._parts(facts)
        if {a for a, _ in increment.terms} & {a for a, _ in position.terms}:
            raise BadInput(f"the increment in '{self.source}' depends on the position with another factor.")
        yield sp.Ge(self.count, 0), {}


@dataclass(frozen=True)
class Triangle(Rule):
    """norm(u + v) <= norm(u) + norm(v), with norms as square roots."""

    u: Vector
    v: Vector

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "triangle inequality"

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality for these vectors."""
        left, right = sp.sqrt(norm2(self.u + self.v)), sp.sqrt(norm2(self.u)) + sp.sqrt(norm2(self.v))
        return sp.Le(left, right, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """In the plane of two vectors: the determinant identity, then the squares of both sides."""
        a, b, c, d = sp.symbols("_a:d", real=True)
        yield sp.Eq((a**2 + b**2) * (c**2 + d**2) - (a * c + b * d) ** 2, (a * d - b * c) ** 2, evaluate=False), {}
        first, second, product = sp.symbols("_nu _nv _uv", real=True)
        facts_of = {"u": first >= 0, "v": second >= 0, "plane": product**2 <= first**2 * second**2}
        yield sp.Le(first**2 + 2 * product + second**2, (first + second) ** 2, evaluate=False), facts_of


@dataclass(frozen=True)
class MeanValue(Rule):
    """From q'(t) >= slope for every start <= t <= 1: q(1) - q(start) >= slope * (1 - start), for start < 1.

    path: q, an expression in `variable` that is continuously differentiable on [start, 1]; source: the fact or step
    that bounds its derivative for every such t.
    """

    path: Any
    variable: Any
    slope: Any
    start: Any
    source: str

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "mean value theorem"

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The interval."""
        return self.variable, (sp.Ge(value, self.start), sp.Le(value, 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The increase is at least slope times length; raises BadInput where the source bounds something else."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the mean value theorem needs the inequality '{self.source}'.")
        if self.slope.has(self.variable) or not same(
            direction(source)[0], sp.diff(self.path, self.variable) - self.slope
        ):
            raise BadInput(f"'{self.source}' does not bound the derivative of {self.path} by {self.slope}.")
        rise = self.path.subs(self.variable, 1) - self.path.subs(self.variable, self.start)
        return sp.Ge(rise, self.slope * (1 - self.start), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The interval is not empty, and the path has no pole on it."""
        yield sp.Lt(self.start, 1), {}
        inside = {"_from": sp.Ge(self.variable, self.start), "_to": sp.Le(self.variable, 1)}
        for factor, _ in factorised(rational_parts(self.path)[1])[1]:
            yield sp.Ne(factor, 0), inside


@dataclass(frozen=True)
class Limit(Rule):
    """From a(e) <= b(e) for every 0 < e < 1, both polynomial in e: a(0) <= b(0).

    source: the fact or step that holds for every such e.
    """

    source: str
    variable: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "limit of an inequality"

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The open interval."""
        return self.variable, (sp.Gt(value, 0), sp.Lt(value, 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality at 0; raises BadInput where the source is not polynomial in the variable."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the limit needs the inequality '{self.source}'.")
        gap = direction(source)[0]
        if any(f.has(self.variable) for f in gap.atoms(sp.Function, sp.Sum, sp.Derivative)) or not gap.is_polynomial(
            self.variable
        ):
            raise BadInput(f"'{self.source}' is not a polynomial in {self.variable}.")
        return sp.Ge(gap.subs(self.variable, 0), 0, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """None besides the form of the source."""
        yield from ()
