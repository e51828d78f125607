"""Rules on sums over windows: a claim at one value of an index, the index of a sum shifted, two sums exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.rules.base import Obligation, Rule
from boundcheck.proof.sums import total


@dataclass(frozen=True)
class At(Rule):
    """A claim that holds for every value of an index, at one value.

    source: name of the fact or step, an inequality; value: an integer within the range of the index, which may mention
    other indices.
    """

    source: str
    index: Any
    value: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "one value of an index"

    @property
    def theorem(self) -> str:
        """What holds for all values holds for one."""
        return "a claim with an index holds for every value in its range"

    def generalised(self) -> Any:
        """The index."""
        return self.index

    def counts(self) -> tuple[Any, ...]:
        """The value."""
        return (self.value,)

    def covered(self, value: Any) -> tuple[Any, tuple[Any, ...]]:
        """The one value."""
        return self.index, (sp.Eq(value, self.value),)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The claim there; raises BadInput where the source is no inequality, or the value mentions its index."""
        source = facts.get(self.source)
        if not isinstance(source, sp.Le | sp.Ge) or self.value.has(self.index):
            raise BadInput(f"'{self.source}' must be an inequality, and {self.value} a value of {self.index}.")
        return source.func(*(side.subs(self.index, self.value) for side in source.args), evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """None but that the value is in the range."""
        yield from ()


@dataclass(frozen=True)
class Shift(Rule):
    """sum_{m<count} a(m) <= sum_{m<count} a(m + 1) + a(0) - a(count), for an integer count >= 0.

    Both sides are equal; for the other direction use it for -a.
    """

    term: Any
    index: Any
    count: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "sum with its index shifted"

    @property
    def theorem(self) -> str:
        """All terms but the first and the last are the same."""
        return "the terms 1 to count are the terms 0 to count - 1, without the first and with the next one"

    def counts(self) -> tuple[Any, ...]:
        """The number of terms."""
        return (self.count,)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two sums; raises BadInput where the number of terms depends on the index."""
        if self.count.has(self.index):
            raise BadInput(f"the number of terms {self.count} must not depend on the index {self.index} of the sum.")
        later, first, last = (self.term.subs(self.index, v) for v in (self.index + 1, 0, self.count))
        sums = (total(term, self.index, self.count) for term in (self.term, later))
        whole, shifted = sums
        return sp.Le(whole, shifted + first - last, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The number of terms is at least 0."""
        yield sp.Ge(self.count, 0), {}


@dataclass(frozen=True)
class Exchange(Rule):
    """sum_{m<count} sum_{r<others} a(m, r) <= sum_{r<others} sum_{m<count} a(m, r), for integers >= 0.

    Both sides are equal; for the other direction exchange the two indices.
    """

    term: Any
    index: Any
    count: Any
    other: Any
    others: Any

    @property
    def label(self) -> str:
        """What the report calls it."""
        return "finite sums exchanged"

    @property
    def theorem(self) -> str:
        """Addition is commutative."""
        return "both are the sum over all pairs"

    def counts(self) -> tuple[Any, ...]:
        """The numbers of terms."""
        return (self.count, self.others)

    def instance(self, facts: Mapping[str, Any]) -> Any:
        """The two double sums; raises BadInput where a number of terms depends on an index."""
        if self.index == self.other or any(c.has(self.index, self.other) for c in self.counts()):
            raise BadInput(f"the sums over {self.index} and {self.other} must be over all pairs of two indices.")
        left = total(total(self.term, self.other, self.others), self.index, self.count)
        right = total(total(self.term, self.index, self.count), self.other, self.others)
        return sp.Le(left, right, evaluate=False)

    def obligations(self, facts: Mapping[str, Any]) -> Iterator[Obligation]:
        """The numbers of terms are at least 0."""
        yield sp.Ge(self.count, 0), {}
        yield sp.Ge(self.others, 0), {}
