"""How far below its measured value a metric may lie, so that no rounding is taken for a violation of a bound.

Metrics above a minimum that is only enclosed are measured from above, which is the safe side for a bound that holds and
not for one that does not; and a run in less than double precision stays away from where exact steps would lead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from boundcheck.engines.curve import Curve, Floats

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

    if quantity not in curve.samples:
        return replace(curve, values={**curve.values, quantity: lowered(known)})
    samples = lowered(curve.samples[quantity])
    with np.errstate(over="ignore"):
        mean = samples.mean(axis=0) if len(samples) else known
    return replace(curve, values={**curve.values, quantity: mean}, samples={**curve.samples, quantity: samples})
