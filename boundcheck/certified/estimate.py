"""The confidence limit of a mean from a part of its terms, for constants that are estimated and not certified.

A verdict that rests on an estimated constant is SUPPORTED at most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput

Floats = NDArray[np.float64]


def upper_mean(values: Any, size: int, level: float = 0.99) -> Floats:
    """The upper confidence limit of the mean of `size` numbers, by column, from m of them drawn without replacement.

    values: (m, J). Student's limit with the correction for a finite population; exact where m = size. It is a limit for
    many numbers: one far from all others that was not drawn is not in it. Raises BadInput for wrong shapes and counts.
    """
    drawn: Floats = np.asarray(values, dtype=np.float64)
    if drawn.ndim != 2 or not drawn.size or not np.isfinite(drawn).all():
        raise BadInput("values must be a nonempty array of 2 dimensions with finite numbers.")
    m = len(drawn)
    if m > size or (m == 1 and size > 1):
        raise BadInput(f"{m} of {size} numbers give no limit of their mean; at least 2 of them do.")
    middle: Floats = drawn.mean(axis=0)
    if m == size:
        return middle
    from scipy.special import stdtrit

    error: Floats = drawn.std(axis=0, ddof=1) * np.sqrt((1 - m / size) / m)
    return middle + stdtrit(m - 1, level) * error
