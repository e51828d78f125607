"""How the server combines what the cohort returned: sum over i in S of a_i^S (y_i - x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

__all__ = ["Aggregation", "Average"]


class Aggregation(Protocol):
    """The coefficients a_i^S of the returned differences."""

    def coefficients(self, cohort: Sequence[int], n: int) -> list[Fraction]:
        """One coefficient for each client of the cohort, in its order."""
        ...

    def by_size_only(self) -> bool:
        """Whether each coefficient depends on the cohort's size alone (then a pair matrix is enough)."""
        ...


@dataclass(frozen=True)
class Average:
    """The plain average of the returned points: a_i^S = 1/|S|."""

    def coefficients(self, cohort: Sequence[int], n: int) -> list[Fraction]:
        return [Fraction(1, len(cohort))] * len(cohort)

    def by_size_only(self) -> bool:
        return True
