"""Rules on sums over an index with a symbolic number of terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.polynomial import direction
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, fresh, norm2

_K = sp.Dummy("k", real=True)
_SUM, _LAST, _SQUARES = fresh("R"), fresh("r"), fresh("q")
_VALUE, _NEXT, _START, _SUMMED, _MORE = sp.symbols("a a1 a0 Q b", cls=sp.Dummy, real=True)


@dataclass(frozen=True)
class Accumulation(Rule):
    """From a(m+1) <= a(m) + b(m) for every 0 <= m < count: a(count) <= a(0) + sum_{m<count} b(m).

    source: name of the fact or step that holds for every m of this range; value: a(index), an expression in the index;
    count: an integer >= 0.
    """

    source: str
    value: Any
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "increments added up"

    def generalised(self) -> Any:
        """The index of the sum."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The number of terms."""
        return (self.count,)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.count - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The inequality after `count` increments; raises BadInput where the source is no inequality."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"adding up needs the inequality '{self.source}' among the facts that the step uses.")
        growth = self.value.subs(self.index, self.index + 1) - self.value
        increment = sp.expand(direction(source)[0] + growth)
        start, end = (self.value.subs(self.index, k) for k in (sp.Integer(0), self.count))
        return sp.Le(end, start + total(increment, self.index, self.count), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0, and one more increment b(k) leads from a(0) + Q to a(0) + Q + b(k)."""
        yield sp.Ge(self.count, 0), {}
        before = {"increments before": sp.Le(_VALUE, _START + _SUMMED), "one more": sp.Le(_NEXT, _VALUE + _MORE)}
        yield sp.Le(_NEXT, _START + _SUMMED + _MORE), before


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

    def generalised(self) -> Any:
        """The index of the sum."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The number of terms."""
        return (self.count,)

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
        q = norm2(_SQUARES)  # any number that is at least 0 is a squared norm
        before = {"terms before": sp.Ge(_K * q, norm2(_SUM), evaluate=False), "one term at least": sp.Ge(_K, 1)}
        yield sp.Ge((_K + 1) * (q + norm2(_LAST)), norm2(_SUM + _LAST), evaluate=False), before


@dataclass(frozen=True)
class InEpochs(Rule):
    """sum_{t < epochs * length} a(t) <= sum_{e < epochs} sum_{r < length} a(e * length + r), for integers >= 0.

    Both sides are equal; for the other direction use it for -a. index: t; epoch, rest: the indices of the sums on the
    right.
    """

    term: Any
    index: Any
    epoch: Any
    epochs: Any
    rest: Any
    length: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "sum over quotient and remainder"

    @property
    def theorem(self) -> str:
        """Division with remainder."""
        return "every integer from 0 to below epochs * length is e * length + r in one way"

    def counts(self) -> tuple[Any, ...]:
        """The numbers of terms."""
        return (self.epochs, self.length)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two sums; raises BadInput where an index occurs in the numbers of terms or in the term."""
        if self.term.has(self.epoch, self.rest) or self.length.has(self.epoch, self.rest, self.index):
            raise BadInput(f"the indices {self.epoch} and {self.rest} must be new in a sum over epochs.")
        if self.epochs.has(self.epoch, self.rest, self.index) or self.epoch == self.rest:
            raise BadInput("the number of epochs must not depend on an index of the sum.")
        inside = self.term.subs(self.index, self.epoch * self.length + self.rest)
        whole = total(self.term, self.index, sp.expand(self.epochs * self.length))
        return sp.Le(whole, total(total(inside, self.rest, self.length), self.epoch, self.epochs), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The numbers of terms are at least 0."""
        yield sp.Ge(self.epochs, 0), {}
        yield sp.Ge(self.length, 0), {}


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

    def generalised(self) -> Any:
        """The index of the sums."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The numbers of terms."""
        return (self.part, self.whole)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the whole sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.whole - 1))

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
class SumOver(Rule):
    """From a(m) <= b(m) for every 0 <= m < count: the sums over m are ordered alike.

    Likewise from a vector equality v(m) == w(m): the sums are equal. source: name of the fact or step that holds for
    every m of this range.
    """

    source: str
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "sum over an index"

    def generalised(self) -> Any:
        """The index of the sum."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The number of terms."""
        return (self.count,)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.count - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The summed inequality or vector equality; raises BadInput where the source is neither."""
        source = facts.get(self.source)
        if isinstance(source, VectorEquality):
            sides = (vector_total(side, self.index, self.count) for side in (source.left, source.right))
            return VectorEquality(*sides)
        if not isinstance(source, sp.Le | sp.Ge):
            raise BadInput(f"the sum needs the inequality '{self.source}' among the facts that the step uses.")
        gap, _ = direction(source)
        return sp.Ge(total(gap, self.index, self.count), 0, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0; each closed form of a sum has been checked by induction already."""
        yield sp.Ge(self.count, 0), {}


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
        shifts = back != source.left and back.at(self.index, self.index + 1) == source.left
        if source.left.terms[0][1] != 1 or not shifts:
            raise BadInput(f"the vector equality '{self.source}' is not of the form x(m + 1) == x(m) + d(m).")
        return back, increment

    def generalised(self) -> Any:
        """The index of the sum."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The number of terms."""
        return (self.count,)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The terms of the sum."""
        return self.index, (sp.Ge(value, 0), sp.Le(value, self.count - 1))

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The telescoped equality."""
        position, increment = self._parts(facts)
        end, start = position.at(self.index, self.count), position.at(self.index, 0)
        return VectorEquality(end, start + vector_total(increment, self.index, self.count))

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The count is at least 0."""
        yield sp.Ge(self.count, 0), {}
