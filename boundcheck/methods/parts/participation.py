"""Which clients take part in a round.

A participation is either *fixed* (the cohort of a round is known in advance and repeats with a period)
or *random* (the cohorts of different rounds are independent and alike). Engines need no more than the
methods below: the exact engine uses `fixed` or the inclusion and pair probabilities, the sampled engine
draws `cohort_size` clients without replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from boundcheck.errors import BadInput

__all__ = ["Cyclic", "Full", "Participation", "Uniform"]


class Participation(Protocol):
    """What every participation answers about `n` clients (numbered from 0)."""

    def period(self, n: int) -> int:
        """Rounds after which a fixed pattern repeats; 1 for random participation."""
        ...

    def fixed(self, round_index: int, n: int) -> tuple[int, ...] | None:
        """The cohort of a round (counted from 0), or None when it is random."""
        ...

    def cohort_size(self, n: int) -> int:
        """How many clients take part in each round."""
        ...

    def inclusion(self, n: int) -> list[Fraction]:
        """Probability that client i takes part in a round, averaged over a period."""
        ...

    def pair(self, i: int, j: int, n: int) -> Fraction:
        """Probability that clients i and j both take part in one round (random participation only)."""
        ...


@dataclass(frozen=True)
class Full:
    """Every client in every round."""

    def period(self, n: int) -> int:
        return 1

    def fixed(self, round_index: int, n: int) -> tuple[int, ...] | None:
        return tuple(range(n))

    def cohort_size(self, n: int) -> int:
        return n

    def inclusion(self, n: int) -> list[Fraction]:
        return [Fraction(1)] * n

    def pair(self, i: int, j: int, n: int) -> Fraction:
        return Fraction(1)


@dataclass(frozen=True)
class Cyclic:
    """One client a round, in a fixed order that repeats every n rounds (SCGD, Algorithm 1).

    order: a permutation of 0..n-1, or None for the natural one.
    """

    order: tuple[int, ...] | None = None

    def _order(self, n: int) -> tuple[int, ...]:
        order = self.order if self.order is not None else tuple(range(n))
        if sorted(order) != list(range(n)):
            raise BadInput(f"the visiting order {list(order)} is not a permutation of the clients 0 to {n - 1}.")
        return order

    def period(self, n: int) -> int:
        return n

    def fixed(self, round_index: int, n: int) -> tuple[int, ...] | None:
        return (self._order(n)[round_index % n],)

    def cohort_size(self, n: int) -> int:
        return 1

    def inclusion(self, n: int) -> list[Fraction]:
        return [Fraction(1, n)] * n

    def pair(self, i: int, j: int, n: int) -> Fraction:
        return Fraction(1, n) if i == j else Fraction(0)


@dataclass(frozen=True)
class Uniform:
    """`size` clients a round, uniformly without replacement, independently from round to round."""

    size: int

    def period(self, n: int) -> int:
        return 1

    def fixed(self, round_index: int, n: int) -> tuple[int, ...] | None:
        return tuple(range(n)) if self.cohort_size(n) == n else None

    def cohort_size(self, n: int) -> int:
        if not 1 <= self.size <= n:
            raise BadInput(f"a cohort of {self.size} clients is impossible; 1 to {n} are allowed.")
        return self.size

    def inclusion(self, n: int) -> list[Fraction]:
        return [Fraction(self.cohort_size(n), n)] * n

    def pair(self, i: int, j: int, n: int) -> Fraction:
        m = self.cohort_size(n)
        if i == j:
            return Fraction(m, n)
        return Fraction(m * (m - 1), n * (n - 1))
