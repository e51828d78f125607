"""One outcome of a round as the formulas of quantities see it (`setting.quantities`): vectors and values as they are.

The mean of a formula's values over all outcomes, by their probabilities, is the expectation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import reduce
from types import SimpleNamespace
from typing import Any

import numpy as np

from boundcheck.engines.exact.expected import Map, Sum
from boundcheck.engines.exact.paths_visits import Data, Ended, Point, total
from boundcheck.errors import BadInput, Unsupported

_ONE = Fraction(1)


class _Points:
    """The local points of one client. q: its weight in the round."""

    def __init__(self, numbers: Any, begin: Point, end: Ended, q: Fraction) -> None:
        self._numbers, self._begin, self._end, self.q = numbers, Map(begin), end, q

    def point(self, k: int) -> Sum:
        """The point before local step k."""
        moved = self._end.way[k]
        return Sum(self._numbers, {self._begin: _ONE, **({} if moved is None else {Map(moved): _ONE})})


class OutcomeRound:
    """An outcome. begun: where the visits of the cohort begin; ends: their results; weights: of its members.

    Raises Unsupported where a formula asks for what one outcome does not have.
    """

    def __init__(
        self, name: str, data: Data, before: Point, after: Point, begun: Sequence[Point], ends: Sequence[Ended],
        weights: Sequence[Fraction], *, everyone: bool,
    ) -> None:  # fmt: skip
        self.name, self._data, self.method, self.objective = name, data, data.method, "F"
        self.argument, self.dim = name.partition(":")[2], data.problem.dim
        self._everyone, self._ends = everyone, ends
        self._numbers = SimpleNamespace(scalar=data.number, sum=total)
        self.before, self.after, self.origin = (self._value(v) for v in (before, after, data.zero()))
        each = zip(begun, ends, weights, strict=True)
        self._members = [_Points(self._numbers, b, end, a * end.visit.weight) for b, end, a in each]

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(
            f"the metric '{self.name}' asks for '{name}' of a round, which the exact engine has on quadratic problems "
            f"alone; '{self._data.problem.name}' is not quadratic."
        )

    def _value(self, value: Any) -> Sum:
        return Sum(self._numbers, {Map(value): _ONE})

    def number_of(self, value: Any) -> Any:
        """What a formula gives, as a number. Raises BadInput for anything else."""
        found = value.mean if isinstance(value, Sum) else None
        if found is None or isinstance(found, np.ndarray):
            raise BadInput(f"the formula of the metric '{self.name}' gives no expected value.")
        return found

    @property
    def members(self) -> list[_Points]:
        """The clients that can take part, where these are the same in every outcome."""
        return self._members if self._everyone else self.__getattr__("members")

    @property
    def total(self) -> Fraction:
        """The sum of the expected weights."""
        return sum((m.q for m in self.members), Fraction(0))

    @property
    def steps(self) -> int:
        """K, 1 where nobody takes part."""
        counts = {len(end.way) for end in self._ends} or {1}
        if len(counts) > 1:
            raise Unsupported(
                f"{self.method.name} takes numbers of local steps that differ, so that it has no virtual models and "
                f"no metric '{self.name}'."
            )
        return counts.pop()

    def cohort_sum(self, vector: Callable[[Any], Sum]) -> Sum:
        """The sum over the cohort of the clients' weights times their vectors."""
        return self.sum(vector(m) * m.q for m in self._members)

    def sum(self, parts: Iterable[Sum]) -> Sum:
        """The sum of vectors, or of values; no part: 0."""
        return reduce(Sum.include, parts, Sum(self._numbers, {}))

    def number(self, value: Fraction) -> Sum:
        """A value that is known."""
        return self._value(self._data.number(value))

    def inner(self, left: Sum, right: Sum) -> Sum:
        """<left, right>."""
        return self._value(total(left.mean * right.mean))

    def square(self, vector: Sum) -> Sum:
        """|vector|^2."""
        return self.inner(vector, vector)

    def excess(self, objective: Any, vector: Sum) -> Sum:
        """F less its minimum."""
        return self._value(self._data.metric("gap", vector.mean))

    def grad2(self, objective: Any, vector: Sum) -> Sum:
        """|grad F|^2."""
        return self._value(self._data.metric("grad2", vector.mean))
