"""Does an implementation have the expectations that its method has? Tests of means with a stated rate of false alarms.

A run of an implementation with one seed gives numbers X_1, ..., X_J (metrics and coordinates at some rounds), with any
dependence between them. Under the hypothesis that it carries out its method, E X_j = m_j is known exactly and
a_j <= X_j <= b_j is certain. Both sides are tested by betting (`evidence.eprocess`): with capital on X_j - a_j >= 0
against a smaller mean, on b_j - X_j >= 0 against a larger one. The mean of all these capitals, over the quantities and
both sides, is an e-process under any dependence. So one may look after every block of seeds, and a right
implementation is refuted with probability at most `rate`, at all looks together. A number outside of [a_j, b_j] refutes
at once.

Without limits no test of means has any power (R. Bahadur and L. Savage, 1956), and with wide ones it has little: a
difference d needs limits within about s^2/d of the mean, s the standard deviation. `same_law` needs none. It compares
with draws of the reference: the empirical distribution functions of S and S' draws of one law are further apart than
sqrt(log(4/alpha)/2) (1/sqrt(S) + 1/sqrt(S')) with probability at most alpha (P. Massart, "The tight constant in the
Dvoretzky-Kiefer-Wolfowitz inequality", 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from boundcheck.errors import BadInput
from boundcheck.evidence.eprocess import log_certified, log_exceeds
from boundcheck.problems.problem import Floats

RATE = 1e-6  # false alarms of a test, by default
POWER = 0.99  # with which the smallest detectable error would have been seen
FIRST = 32  # seeds of the first block; later blocks double their number
_EFFORT = 14.0  # twice the log of the capital that the bets are made for
_STAKE = 15 / 16  # the largest share of the capital that one seed can cost
_PRIOR = math.log(16 / 3)  # the share of the capital that bets on about the right number of seeds


@dataclass(frozen=True, eq=False)
class Expected:
    """What a right implementation has: labels of J quantities, E X (J,), and certain limits low <= X <= high (J,).

    slack: (J,) rounding error of X that is allowed; an X this near to its limit counts as within.
    """

    labels: tuple[str, ...]
    mean: Floats
    low: Floats
    high: Floats
    slack: Floats

    def __post_init__(self) -> None:
        shapes = {len(self.labels), *(len(v) for v in (self.mean, self.low, self.high, self.slack))}
        if len(shapes) != 1 or not self.labels:
            raise BadInput("expectations need as many labels, means, limits and slacks, at least one of each.")
        if not (np.isfinite(self.mean).all() and (self.low <= self.mean).all() and (self.mean <= self.high).all()):
            raise BadInput("an expectation must be finite and lie between its limits.")


@dataclass(frozen=True, eq=False)
class MeanTest:
    """The outcome of a test.

    refuted: whether the implementation was refuted, which a right one is with probability `rate` at most. where: the
    index of the first quantity that refutes alone, else of that with the most evidence, None where nothing was refuted.
    outside: whether that was a number beyond a certain limit. seeds: how many were used. seen: (J,) their means. error:
    (J,) differences from the expectation that would have been seen with probability `power` (asymptotically, at the
    observed variance). evidence: log of the capital.
    """

    expected: Expected
    refuted: bool
    where: int | None
    outside: bool
    seeds: int
    seen: Floats
    error: Floats
    evidence: float
    rate: float
    power: float


def log_evidence(samples: Floats, expected: Expected) -> Floats:
    """log of the capital (J,) against E X_j = m_j after the samples (S, J); infinite beyond a certain limit."""
    outside = (samples < expected.low - expected.slack) | (samples > expected.high + expected.slack)
    width = expected.high - expected.low
    unit = np.where(width > 0, width, 1.0)
    x = (np.clip(samples, expected.low, expected.high) - expected.low) / unit
    mean = np.where(width > 0, (expected.mean - expected.low) / unit, 0.5)
    # rounding must not be evidence, however often it goes the same way
    near = np.abs(samples - expected.mean) <= expected.slack
    x = np.where(near | (width <= 0), mean, x)
    scale = _scale(x - mean, np.minimum(mean, 1 - mean) / 2)
    with np.errstate(divide="ignore"):
        above = np.where(mean > 0, log_exceeds(x, np.where(mean > 0, mean, 1.0), scale), 0.0)
        above = np.where((mean <= 0) & (x > 0).any(axis=0), np.inf, above)
        below = log_certified(x, mean, np.ones_like(mean), scale)
        below = np.where(mean < 1, below, np.where((x < 1).any(axis=0), np.inf, 0.0))
    found = np.logaddexp(above, below) - math.log(2)
    return np.where(outside.any(axis=0), np.inf, found)


def _scale(away: Floats, prior: Floats) -> Floats:
    """What the bets (S, J) on each sample have in common, from earlier seeds alone: see `eprocess.bet_scale`.

    The variance is that around the expectation, with one more value at the distance `prior` or at twice the largest
    distance so far, whichever is less. There is no bet on the first seed.
    """
    square = away * away
    nothing = np.zeros((1, away.shape[1]))
    total = np.concatenate([nothing, np.cumsum(square, axis=0)[:-1]])
    largest = np.concatenate([nothing, np.maximum.accumulate(square, axis=0)[:-1]])
    variance = (total + np.minimum(4 * largest, prior**2)) / np.arange(1, len(away) + 1)[:, None]
    with np.errstate(divide="ignore"):
        found = np.sqrt(_EFFORT / np.maximum(variance, 1e-300))
    found[0] = 0.0
    return found


def check_means(
    draw: Callable[[range], Floats],
    expected: Expected,
    *,
    seeds: int = 2048,
    rate: float = RATE,
    power: float = POWER,
) -> MeanTest:
    """Test the expectations with blocks of seeds, 0 to 31, 32 to 63, 64 to 127, ..., until refuted or `seeds` are used.

    draw: seeds -> their numbers (S, J); NaN counts as beyond every limit. Raises BadInput for rates outside of (0, 1).
    """
    for name, value in (("rate", rate), ("power", power)):
        if not 0 < value < 1:
            raise BadInput(f"{name} = {value} is not allowed; it lies between 0 and 1.")
    if seeds < 1:
        raise BadInput(f"seeds = {seeds} is not allowed; a test needs at least 1.")
    count = len(expected.labels)
    samples = np.empty((0, count))
    while True:
        used = len(samples)
        block = np.asarray(draw(range(used, min(max(FIRST, 2 * used), seeds))), dtype=np.float64)
        samples = np.concatenate([samples, np.where(np.isnan(block), np.inf, block)])
        logs = log_evidence(samples, expected)
        top = float(logs.max())
        total = top if math.isinf(top) else top + math.log(float(np.exp(logs - top).mean()))
        if total >= -math.log(rate) or len(samples) >= seeds:
            break
    refuted = total >= -math.log(rate)
    where = int(np.argmax(logs)) if refuted else None
    if refuted:  # the first quantity that alone refutes, where there is one: later rounds only inherit the mistake
        alone = np.flatnonzero(logs >= math.log(count / rate))
        where = int(alone[0]) if alone.size else where
    with np.errstate(invalid="ignore", over="ignore"):
        seen = samples.mean(axis=0)
        spread = np.sqrt(((samples - expected.mean) ** 2).mean(axis=0))
    return MeanTest(
        expected=expected,
        refuted=refuted,
        where=where,
        outside=refuted and math.isinf(top),
        seeds=len(samples),
        seen=seen,
        error=detectable(expected, spread, len(samples), rate, power),
        evidence=total,
        rate=rate,
        power=power,
    )


def detectable(expected: Expected, spread: Floats, seeds: int, rate: float, power: float) -> Floats:
    """Differences (J,) in the means that `seeds` seeds show with probability `power`, for standard deviations `spread`.

    A bet l, at most c over the distance to the further limit, on a difference d lets the log of the capital grow by
    l d - (l s)^2/2 a seed, with standard deviation l s.
    """
    needed = math.log(2 * len(expected.labels) / rate) + _PRIOR
    z = float(ndtri(power))
    room = np.maximum(expected.mean - expected.low, expected.high - expected.mean)
    s, room = np.where((spread > 0) & np.isfinite(spread), spread, 1.0), np.where(room > 0, room, 1.0)
    low, high = np.zeros_like(s), np.maximum(s, room) * 1e3
    for _ in range(60):
        middle = (low + high) / 2
        bet = np.minimum(middle / s**2, _STAKE / room)
        enough = seeds * (bet * middle - (bet * s) ** 2 / 2) - z * bet * s * math.sqrt(seeds) >= needed
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(np.isfinite(spread), np.where(spread > 0, high, 0.0), np.inf) + expected.slack


@dataclass(frozen=True, eq=False)
class LawTest:
    """The outcome of a comparison with draws of the reference: see `MeanTest`.

    distance: (J,) largest differences of the distribution functions. allowed: what draws of one law may differ by.
    error: a difference of the laws' distribution functions that would have been seen with probability `power`.
    """

    labels: tuple[str, ...]
    refuted: bool
    where: int | None
    seeds: int
    distance: Floats
    allowed: float
    error: float
    rate: float
    power: float


def same_law(
    samples: Floats,
    reference: Floats,
    labels: Sequence[str],
    *,
    rate: float = RATE,
    power: float = POWER,
    rounding: float = 1e-9,
) -> LawTest:
    """Compare numbers (S, J) with those of independent draws (S', J) of the reference, one law for each quantity.

    rounding: relative distance within which two numbers are the same. Assumes nothing about the laws.
    """
    roots = 1 / math.sqrt(len(samples)) + 1 / math.sqrt(len(reference))
    allowed = roots * math.sqrt(math.log(4 * len(labels) / rate) / 2)
    distance = np.array([_distance(a, b, rounding) for a, b in zip(samples.T, reference.T, strict=True)])
    beyond = np.flatnonzero(distance > allowed)
    where = int(beyond[0]) if beyond.size else None
    error = min(1.0, allowed + roots * math.sqrt(math.log(4 / (1 - power)) / 2))
    return LawTest(tuple(labels), where is not None, where, len(samples), distance, allowed, error, rate, power)


def _distance(a: Floats, b: Floats, rounding: float) -> float:
    """The largest difference of the empirical distribution functions, at points further apart than rounding."""
    a, b = np.sort(np.where(np.isnan(a), np.inf, a)), np.sort(np.where(np.isnan(b), np.inf, b))
    both = np.sort(np.concatenate([a, b]))
    finite = both[np.isfinite(both)]
    near = rounding * float(np.abs(finite).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        ends = np.append(np.diff(both) > near, True)  # the last of each group of equal numbers
    at = np.where(np.isfinite(both[ends]), both[ends], np.inf)
    lower = np.searchsorted(a, at, side="right") / len(a)
    upper = np.searchsorted(b, at, side="right") / len(b)
    return float(np.abs(lower - upper).max())
