"""Dimensions of quantities; `theory.scaling` checks that the units of both sides of a formula agree.

Scaling f by a and x by b must turn a true bound into a true bound, so each side of a bound, of a
condition and of every sum must carry the same powers of [f] and [x]. Counts are dimensionless.
A sequence whose unit is arbitrary (Chung's lemma) has a free dimension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType


@dataclass(frozen=True)
class Dimension:
    """[f]^f [x]^x [u]^free: `f` in units of the objective, `x` of the variable, `free` of an arbitrary unit."""

    f: Fraction = Fraction(0)
    x: Fraction = Fraction(0)
    free: Fraction = Fraction(0)

    def __mul__(self, other: Dimension) -> Dimension:
        return Dimension(self.f + other.f, self.x + other.x, self.free + other.free)

    def __truediv__(self, other: Dimension) -> Dimension:
        return self * other.power(Fraction(-1))

    def power(self, exponent: Fraction) -> Dimension:
        """This dimension raised to a rational power."""
        return Dimension(self.f * exponent, self.x * exponent, self.free * exponent)

    def __str__(self) -> str:
        parts = [
            f"[{unit}]" + ("" if power == 1 else f"^{power}" if power.denominator == 1 else f"^({power})")
            for unit, power in (("f", self.f), ("x", self.x), ("u", self.free))
            if power != 0
        ]
        return " ".join(parts) or "dimensionless"


def _of(f: int, x: int, free: int = 0) -> Dimension:
    return Dimension(Fraction(f), Fraction(x), Fraction(free))


ONE = _of(0, 0)  # counts, ratios, probabilities
VALUE = _of(1, 0)  # f, gaps
LENGTH2 = _of(0, 2)  # squared distances
CURVATURE = _of(1, -2)  # L, mu
STEP = _of(-1, 2)  # step sizes
GRADIENT2 = _of(2, -2)  # squared gradient norms
FREE = _of(0, 0, 1)  # sequences in an arbitrary unit
LENGTH = _of(0, 1)  # coordinates of the variable

# of the quantities that metrics are about; one that is not listed has the dimension that its statement declares
QUANTITIES: Mapping[str, Dimension] = MappingProxyType(
    {
        "dist2": LENGTH2,
        "gap": VALUE,
        "grad2": GRADIENT2,
        "x": LENGTH,
        "u": FREE,
        "drift": LENGTH2,
        "epoch_grad2": GRADIENT2,
        "movement2": LENGTH2,
        "dist2_change": LENGTH2,
        "work_distance2": LENGTH2,
        "virtual_distance2": LENGTH2,
        "work_grad2": GRADIENT2,
        "work_mean_grad2": GRADIENT2,
        "virtual_mean_grad2": GRADIENT2,
        "work_inner": VALUE,
        "virtual_inner": VALUE,
        "momentum_error2": GRADIENT2,
    }
)
