"""The server's step on the aggregated difference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["ServerStep"]


@dataclass(frozen=True)
class ServerStep:
    """x <- x + eta_g * (aggregated difference); eta_g = 1 replaces the model by the aggregate."""

    eta_g: Fraction = Fraction(1)
