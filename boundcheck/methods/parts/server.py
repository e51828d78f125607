"""The server's step on the aggregated difference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class ServerStep:
    """x <- x + eta_g * (aggregated difference); eta_g = 1 replaces the model by the aggregate.

    ascend: subtract instead, as FedShuffle's boxes print it (Delta_i = y_i - x with x <- x - eta_g Delta).
    """

    eta_g: Fraction = Fraction(1)
    ascend: bool = False

    @property
    def factor(self) -> Fraction:
        """What multiplies the aggregated difference."""
        return -self.eta_g if self.ascend else self.eta_g
