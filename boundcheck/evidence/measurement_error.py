"""How far below its measured value a metric may lie, so that no rounding is taken for a violation of a bound.

Metrics above a minimum that is only enclosed are measured from above, which is the safe side for a bound that holds and
not for one that does not; and a run in less than double precision stays away from where exact steps would lead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.curve import Arithmetic, Curve, Floats

# precision of a run -> the share of a metric's largest value below which its rounding may be all that is seen: the
# square of the unit roundoff times a condition number of 10^4
FLOOR: Mapping[str, float] = {"float32": 1e-6, "tf32": 1e-2, "bf16": 1e-1}


def low_precision(curve: Curve) -> str | None:
    """The precision of a run in less than double precision, None for others."""
    name = str(curve.info.get("precision"))
    return name if name in FLOOR else None


def from_below(curve: Curve, quantity: str) -> Curve | None:
    """The curve with the least values that its metric may have; None where it is taken as it was measured."""
    above = curve.info.get("from_above")
    width = float(above[quantity]) if isinstance(above, Mapping) and quantity in above else 0.0
    precision = low_precision(curve)
    if not width and precision is None:
        return None
    share = 0.0 if precision is None else FLOOR[precision]
    known = curve.values[quantity]
    floor = share * float(np.max(known, where=np.isfinite(known), initial=0.0))

    def lowered(values: Floats) -> Floats:
        if quantity == "dist2":  # (|x - point| + radius)^2, and |x - x*| is at least |x - point| - radius
            least = np.maximum(np.sqrt(values) - 2 * width, 0.0) ** 2
        else:
            least = np.maximum(values - width, 0.0)
        return np.maximum(least - floor, 0.0)

    def of(own: Curve) -> Curve:  # a mean of what is lowered is at least the lowered mean
        if quantity not in own.samples:
            return replace(own, values={**own.values, quantity: lowered(own.values[quantity])})
        samples = lowered(own.samples[quantity])
        with np.errstate(over="ignore"):
            mean = samples.mean(axis=0) if len(samples) else own.values[quantity]
        return replace(own, values={**own.values, quantity: mean}, samples={**own.samples, quantity: samples})

    return replace(
        of(curve), summaries={key: of(own) for key, own in curve.summaries.items() if quantity in own.values}
    )


# Relative rounding error that one round, or one value of a metric, may have in doubles: 64 units of roundoff, chosen
# and not proved. The errors of the rounds add up where the maps of the run do not expand.
UNIT = 64 * 2.0**-53


@dataclass(frozen=True)
class Rounding:
    """How far rounding may carry a metric at P points; 0 for rigorous enclosures.

    root: its square root, as of a squared length; flat: itself, beyond that.
    """

    root: Floats
    flat: Floats

    @property
    def floor(self) -> Floats:
        """Where metric and bound are both below this, nothing is decided: 16 times what rounding may make of 0, so that
        above it a metric of 0 is known to be within."""
        return 16 * (self.root**2 + self.flat)

    def moved(self, bound: Floats, up: bool) -> Floats:
        """The bound that the exact metric breaks (up) or keeps (not up) wherever the rounded one does so with this."""
        with np.errstate(over="ignore", invalid="ignore"):
            shift = 2 * np.sqrt(np.maximum(bound, 0.0)) * self.root + self.floor / 16
            return np.where(np.isfinite(bound) & (shift > 0), bound + (shift if up else -shift), bound)

    def at(self, mask: NDArray[np.bool_]) -> Rounding:
        """That of some points."""
        return Rounding(self.root[mask], self.flat[mask])


def rounding_of(curve: Curve, quantity: str, rounds: Sequence[int], start: float, scale: Floats | None) -> Rounding:
    """How far the metric's doubles may lie off after these rounds; scale: what the metric is multiplied by.

    The size of the numbers is the largest recorded value or the one at the start; that of the iterates has the start's
    norm, too. A gap is a difference of two values of F, and otherwise as exact as a squared length.
    """
    count = np.asarray(rounds, dtype=np.float64) + 1
    if curve.arithmetic not in (Arithmetic.FLOAT64, Arithmetic.SAMPLED) or quantity not in curve.values:
        return Rounding(np.zeros(len(count)), np.zeros(len(count)))
    found = np.abs(curve.values[quantity])
    size = float(np.max(found, where=np.isfinite(found), initial=0.0))
    size = max(size, start, abs(float(curve.start.get(quantity, 0))), float(curve.info.get("scale", 0.0)))
    length = np.sqrt(size) + (float(curve.info.get("start_norm", 0.0)) if quantity == "dist2" else 0.0)
    squared = quantity.endswith("2")
    root = UNIT * count * length if squared or quantity == "gap" else 0 * count
    flat = 0 * count if squared else UNIT * size * (1 if quantity == "gap" else count) + 0 * count
    factor = 1.0 if scale is None else np.abs(scale)
    return Rounding(root * np.sqrt(factor), flat * factor)
