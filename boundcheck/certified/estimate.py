"""Constants estimated from gradients at points: the least that cover what was seen, never a bound.

A verdict that rests on an estimated constant is SUPPORTED at most. All arrays are float64; T points, n clients,
m samples, dimension d.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.certified.certify import from_above
from boundcheck.certified.constant import Constant, Known
from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput

Floats = NDArray[np.float64]


def _array(values: Any, name: str, dimensions: int) -> Floats:
    """A finite float64 array of so many dimensions, none of them empty."""
    array: Floats = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        raise BadInput(f"{name} must be a nonempty array of {dimensions} dimensions with finite numbers.")
    return array


def _weights(weights: Sequence[Any], count: int) -> Floats:
    given = np.array([float(as_fraction(w, "weights")) for w in weights])
    if len(given) != count or (given < 0).any() or abs(given.sum() - 1) > 1e-9:
        raise BadInput(f"{count} clients need as many weights, at least 0, that sum to 1.")
    return given


def _factor(value: Any, name: str) -> Fraction:
    factor = as_fraction(value, name)
    if factor < 0:
        raise BadInput(f"{name} = {factor} is not allowed; it must be at least 0.")
    return factor


def _estimated(value: float, points: int, what: str) -> Constant:
    how = f"{what}, the least that covers {points} points"
    return Constant(Fraction(max(0.0, value)), Known.ESTIMATED, "exact", how)


def estimate_dissimilarity(gradients: Any, weights: Sequence[Any], B2: Any = 1) -> tuple[Constant, Constant]:
    """(B2, G2): sum of w_i |grad f_i|^2 <= G2 + B2 |grad F|^2 at the points seen.

    gradients: (T, n, d), those of the clients at each point. Raises BadInput for wrong shapes and numbers.
    """
    g = _array(gradients, "gradients", 3)
    w, factor = _weights(weights, g.shape[1]), _factor(B2, "B2")
    left = np.einsum("i,tid,tid->t", w, g, g)
    mean = np.einsum("i,tid->td", w, g)
    excess = left - float(factor) * (mean * mean).sum(axis=1)
    return from_above(factor, "chosen"), _estimated(float(excess.max()), len(g), "G2")


def estimate_local_variance(gradients: Any, P2: Any = 0) -> tuple[Constant, Constant]:
    """(P_i^2, sigma_i^2) of one client: the variance of its samples' gradients is at most sigma_i^2 + P_i^2 |mean|^2.

    gradients: (T, m, d), those of its samples at each point.
    """
    g = _array(gradients, "gradients", 3)
    factor = _factor(P2, "P_i^2")
    mean = g.mean(axis=1)
    spread = ((g - mean[:, None, :]) ** 2).sum(axis=2).mean(axis=1)
    excess = spread - float(factor) * (mean * mean).sum(axis=1)
    return from_above(factor, "chosen"), _estimated(float(excess.max()), len(g), "sigma_i^2")


def _steepest(points: Floats, gradients: Floats) -> float:
    """The largest |g_t - g_s|/|x_t - x_s| over all pairs of different points."""
    worst = 0.0
    for t in range(1, len(points)):
        apart = np.sqrt(((points[:t] - points[t]) ** 2).sum(axis=1))
        moved = np.sqrt(((gradients[:t] - gradients[t]) ** 2).sum(axis=1))
        far = apart > 0
        if far.any():
            worst = max(worst, float((moved[far] / apart[far]).max()))
    return worst


def estimate_smoothness(points: Any, gradients: Any) -> Constant:
    """The Lipschitz constant of a gradient over pairs of points; points, gradients: (T, d)."""
    x, g = _array(points, "points", 2), _array(gradients, "gradients", 2)
    if x.shape != g.shape:
        raise BadInput(f"points have the shape {x.shape}, gradients {g.shape}; they must agree.")
    return _estimated(_steepest(x, g), len(x), "L")


def estimate_similarity(points: Any, gradients: Any, weights: Sequence[Any]) -> Constant:
    """delta over pairs of points: the largest Lipschitz constant of grad f_i - grad F.

    points: (T, d); gradients: (T, n, d).
    """
    x, g = _array(points, "points", 2), _array(gradients, "gradients", 3)
    if len(x) != len(g) or x.shape[1] != g.shape[2]:
        raise BadInput(f"points have the shape {x.shape}, gradients {g.shape}; they must agree.")
    apart = g - np.einsum("i,tid->td", _weights(weights, g.shape[1]), g)[:, None, :]
    worst = max(_steepest(x, apart[:, i]) for i in range(g.shape[1]))
    return _estimated(worst, len(x), "delta")


def upper_mean(values: Any, size: int, level: float = 0.99) -> Floats:
    """The upper confidence limit of the mean of `size` numbers, by column, from m of them drawn without replacement.

    values: (m, J). Student's limit with the correction for a finite population; exact where m = size. It is a limit for
    many numbers: one far from all others that was not drawn is not in it. Raises BadInput for wrong shapes and counts.
    """
    drawn = _array(values, "values", 2)
    m = len(drawn)
    if m > size or (m == 1 and size > 1):
        raise BadInput(f"{m} of {size} numbers give no limit of their mean; at least 2 of them do.")
    middle: Floats = drawn.mean(axis=0)
    if m == size:
        return middle
    from scipy.special import stdtrit

    error: Floats = drawn.std(axis=0, ddof=1) * np.sqrt((1 - m / size) / m)
    return middle + stdtrit(m - 1, level) * error
