"""How long each client takes for its local work.

Y. Fraboni, R. Vidal, L. Kameni, M. Lorenzi, "A General Theory for Federated Optimization with Asynchronous and
Heterogeneous Clients Updates", Section 5: F0 (identical hardware) and F80. The text says that the clients' times are
spread evenly and that in F80 the fastest contributes up to 5 times as often as the slowest; the literal "80 % slower"
is a ratio of 1.8. Both readings are `Spread`; the slowest client takes the time 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from boundcheck.core.numbers import format_short
from boundcheck.errors import BadInput

LARGEST = Fraction(10**100)  # of a time or rate, and 1 over the smallest; their sums are then doubles


def _check_size(value: Fraction, what: str) -> None:
    if value <= 0:
        raise BadInput(f"the {what} {format_short(value)} is not allowed; it is above 0.")
    if not 1 / LARGEST <= value <= LARGEST:
        raise BadInput(f"the {what} {format_short(value)} is not allowed; it is between 1e-100 and 1e100.")


@dataclass(frozen=True)
class Fixed:
    """T_i, one positive number a client: each piece of work takes exactly so long."""

    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise BadInput("the list of update times is empty; one time a client is needed.")
        for v in self.values:
            _check_size(v, "update time")

    def of(self, count: int) -> Fixed:
        """Those of `count` clients. Raises BadInput where they are given for another number."""
        if len(self.values) != count:
            raise BadInput(f"{len(self.values)} update times were given for {count} clients.")
        return self

    @property
    def slowest(self) -> Fraction:
        """The longest possible time, whatever the number of clients."""
        return max(self.values)


@dataclass(frozen=True)
class Spread:
    """Times spread evenly from 1/ratio (client 0, the fastest) to 1 (the last client, the slowest)."""

    ratio: Fraction = Fraction(1)
    slowest: ClassVar[Fraction] = Fraction(1)

    def __post_init__(self) -> None:
        if self.ratio < 1:
            raise BadInput(
                f"the ratio {format_short(self.ratio)} of slowest to fastest is not allowed; it is at least 1."
            )
        _check_size(self.ratio, "ratio of slowest to fastest")

    def of(self, count: int) -> Fixed:
        """Those of `count` clients; a client alone is the slowest."""
        if count < 1:
            raise BadInput(f"{count} clients are not allowed; at least 1.")
        low = 1 / self.ratio
        if count == 1:
            return Fixed((Fraction(1),))
        return Fixed(tuple(low + (1 - low) * Fraction(i, count - 1) for i in range(count)))


F0 = Spread()
F80 = Spread(Fraction(5))
F80_LITERAL = Spread(Fraction(9, 5))


@dataclass(frozen=True)
class Exponential:
    """Each piece of work of client i takes an independent exponential time of mean 1/rates[i]: memoryless."""

    rates: tuple[Fraction, ...]
    values: ClassVar[None] = None  # no time is known beforehand
    slowest: ClassVar[None] = None  # nor is any the longest

    def __post_init__(self) -> None:
        if not self.rates:
            raise BadInput("the list of rates is empty; one rate a client is needed.")
        for v in self.rates:
            _check_size(v, "rate")

    def of(self, count: int) -> Exponential:
        """Those of `count` clients. Raises BadInput where they are given for another number."""
        if len(self.rates) != count:
            raise BadInput(f"{len(self.rates)} rates were given for {count} clients.")
        return self


Times = Fixed | Spread | Exponential  # the update times of any number of clients
