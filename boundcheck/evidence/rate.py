"""Rates: the slope of a curve on log-log axes, with what is known about it.

For a curve y(x) ~ C*x^p the slope of log y against log x is p. It is fitted by least squares over the last
part of the range, each point weighted by its share of the log x axis (trapezoids), so that the slope is that
of the curve and not of the grid on which it was stored. A curve of an exact engine has no sampling error:
what is uncertain is whether it is a power law yet, so the local slopes over sub-windows are given (drift).
A sampled curve has a confidence interval over seeds. Either way a finite range was seen: a claim about a
limit is at most supported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundcheck.errors import BadInput
from boundcheck.verdict import Outcome

Array = NDArray[np.float64]

MIN_POINTS = 3
MIN_SEEDS = 10


@dataclass(frozen=True)
class Rate:
    """Slope of log y against log x (dimensionless) with limits low <= slope <= high.

    kind "drift": the limits are the least and largest slope over sub-windows of an exact curve.
    kind "confidence": a confidence interval over seeds at `level` (see `fit_rate_sampled`).
    points: how many points the fit used; span: the first and last x of these; level: None for drift.
    """

    slope: float
    low: float
    high: float
    kind: Literal["drift", "confidence"]
    points: int
    span: tuple[float, float]
    level: float | None = None


def fit_rate(x: ArrayLike, y: ArrayLike, last: float = 0.5, windows: int = 4) -> Rate:
    """Slope of the exact curve y (R,) at x (R,), strictly increasing and positive, over the `last` part of log x.

    The local slopes are those of the chords over at most `windows` sub-windows of about equal length in
    log x. Raises BadInput for fewer than 3 points in the fitted part, values that are not finite and
    positive, last outside (0, 1] or windows below 2.
    """
    if windows < 2:
        raise BadInput(f"windows = {windows} shows no drift; an integer from 2 is allowed.")
    position, part, span = _fitted_part(x, last)
    values = np.asarray(y, dtype=np.float64)
    if values.shape != (part.stop,):
        raise BadInput(f"The curve has shape {values.shape} but there are {part.stop} points on the x axis.")
    values = values[part]
    _check_positive(values, "curve", part.start)
    height = np.log(values)
    slope = float(_coefficients(position) @ height)
    inner = np.linspace(position[0], position[-1], windows + 1)
    cuts = np.unique(np.abs(position[:, None] - inner).argmin(axis=0))
    local = np.diff(height[cuts]) / np.diff(position[cuts])
    low, high = min(slope, float(local.min())), max(slope, float(local.max()))
    return Rate(slope, low, high, "drift", position.size, span)


def fit_rate_sampled(x: ArrayLike, samples: ArrayLike, last: float = 0.5, level: float = 0.99) -> Rate:
    """Slope of the mean over seeds of samples (S, R) at x (R,), with a confidence interval at `level`.

    The interval is the fitted slope plus and minus Student's quantile (S - 1 degrees of freedom) times the
    jackknife standard error over seeds (Efron and Stein, "The jackknife estimate of variance", 1981). It assumes
    independent seeds, a finite variance, and that S is large enough for the normal approximation; the number of
    seeds must not have been chosen by looking at the slope. Rounds may depend on each other in any way.

    Raises BadInput for fewer than 3 points in the fitted part, fewer than 10 seeds, values that are not finite
    and non-negative, and a mean, or a mean without one of the seeds, that is 0.
    """
    from scipy.special import stdtrit

    if not 0.5 <= level < 1:
        raise BadInput(f"level = {level} is not a confidence level; 0.5 <= level < 1 is allowed, for example 0.99.")
    position, part, span = _fitted_part(x, last)
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != part.stop:
        raise BadInput(f"Samples of shape {values.shape} do not fit: (seeds, {part.stop}) is allowed.")
    seeds = values.shape[0]
    if seeds < MIN_SEEDS:
        raise BadInput(f"{seeds} seeds give no confidence interval of a slope; at least {MIN_SEEDS} are needed.")
    values = values[:, part]
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        seed, column = (int(i) for i in np.argwhere(bad)[0])
        raise BadInput(
            f"The metric is {values[seed, column]:g} at seed number {seed} and point number {part.start + column}; "
            "finite non-negative values are allowed, and a diverged run has no rate."
        )
    total = values.sum(axis=0)
    without = (total - values) / (seeds - 1)
    _check_positive(np.minimum(total / seeds, without.min(axis=0)), "mean curve (leaving out any one seed)", part.start)
    weights = _coefficients(position)
    slope = float(weights @ np.log(total / seeds))
    left_out = (np.log(without) * weights).sum(axis=1)
    error = float(np.sqrt((seeds - 1) / seeds * ((left_out - left_out.mean()) ** 2).sum()))
    reach = float(stdtrit(seeds - 1, 0.5 + level / 2)) * error
    return Rate(slope, slope - reach, slope + reach, "confidence", position.size, span, level)


def within(rate: Rate, low: float, high: float) -> Outcome:
    """Whether the slope lies in the claimed interval [low, high], either end of which may be infinite.

    HOLDS when all of [rate.low, rate.high] lies inside, VIOLATED when none of it does, else UNDECIDED.
    Raises BadInput for NaN and for low > high.
    """
    if not low <= high:
        raise BadInput(f"The claimed slope interval [{low:g}, {high:g}] is empty; low <= high is needed.")
    if low <= rate.low and rate.high <= high:
        return Outcome.HOLDS
    if rate.high < low or rate.low > high:
        return Outcome.VIOLATED
    return Outcome.UNDECIDED


def _fitted_part(x: ArrayLike, last: float) -> tuple[Array, slice, tuple[float, float]]:
    """log x over the fitted part, which points these are (its stop is the number of all points), and their span."""
    if not 0 < last <= 1:
        raise BadInput(f"last = {last} is not a part of the range; 0 < last <= 1 is allowed.")
    axis = np.asarray(x, dtype=np.float64)
    if axis.ndim != 1:
        raise BadInput(f"A slope needs its points in a single row; x has the shape {axis.shape}.")
    if axis.size < MIN_POINTS:
        raise BadInput(f"A slope needs at least {MIN_POINTS} points; there are {axis.size}.")
    _check_positive(axis, "x axis", 0)
    if not (np.diff(axis) > 0).all():
        at = int(np.argmin(np.diff(axis) > 0))
        raise BadInput(f"x must increase strictly; it goes from {axis[at]:g} to {axis[at + 1]:g} at point number {at}.")
    position = np.log(axis)
    edge = position[-1] - last * (position[-1] - position[0])
    # A point that lies on the edge belongs to the part, whichever way its logarithm was rounded.
    start = int(np.searchsorted(position, edge - 1e-9 * (position[-1] - position[0])))
    if axis.size - start < MIN_POINTS:
        raise BadInput(
            f"Only {axis.size - start} points lie in the last {last:g} of the log range of x; at least {MIN_POINTS} "
            "are needed: add points or raise last."
        )
    return position[start:], slice(start, axis.size), (float(axis[start]), float(axis[-1]))


def _coefficients(position: Array) -> Array:
    """k with slope = sum(k*log y): least squares, weighted by each point's share of the log x axis."""
    gaps = np.diff(position)
    share = np.zeros_like(position)
    share[:-1] += gaps / 2
    share[1:] += gaps / 2
    centred = position - (share * position).sum() / share.sum()
    return share * centred / (share * centred * centred).sum()


def _check_positive(values: Array, what: str, offset: int) -> None:
    bad = ~np.isfinite(values) | (values <= 0)
    if bad.any():
        at = int(np.argmax(bad))
        raise BadInput(
            f"The {what} is {values[at]:g} at point number {offset + at}; log-log slopes need finite positive values."
        )
