"""The e-processes behind the sequential test of sampled curves.

Seeds arrive one after another; each gives non-negative values X = (X_1, ..., X_R) at the R compared rounds, with any
dependence between rounds. An e-process is a capital that starts at 1 and, under its hypothesis, reaches 1/alpha at
some time with probability at most alpha (Ville's inequality), so one may look after every seed and stop when one
likes. b is the bound at a round.

*Against E X <= b.* A bet lambda in [0, 1/b] that depends on earlier seeds alone multiplies the capital by
1 + lambda*(X - b), which is not negative and has expectation at most 1. Nothing is assumed beyond X >= 0
(I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2024, Section 4).
The bets are those that would decide after N seeds at the variance v of the earlier seeds,

    lambda = min(c/b, sqrt(2 l/(N v))),  c = 15/16, l = 7 = about log(1/alpha) at alpha = 0.001,

and the capitals of several horizons N are averaged. On values of variance sigma^2 and mean b + d the best fixed bet
is about d/sigma^2, and the horizon N = 2 l sigma^2/d^2 takes it. The average over rounds is evidence against "at all
rounds", under any dependence (V. Vovk and R. Wang, "E-values: calibration, combination and applications", Annals of
Statistics, 2021).

*Against E X >= b, where X <= U is certain.* The same capital for U - X >= 0, whose mean is at most U - b: the factor
is 1 + lambda*(b - X) with lambda in [0, 1/(U - b)]. Nothing else is assumed. Where U <= b nothing needs to be seen.

*Against E X >= b, where no such U is known.* Without an assumption no test has any power (R. Bahadur and L. Savage,
"The nonexistence of certain statistical procedures in nonparametric problems", 1956): an event that no seed has seen
may carry the expectation. Let E X > b, and let q be the number at which E min(X, q) = b. The event A = {X >= q} has a
positive probability a. For every fixed lambda <= 1/(q - b),

    max(0, 1 + lambda*(b - X)) <= 1 + lambda*(b - min(X, q)),

whose right side is not negative and has expectation 1. So the capitals of these lambda, averaged with weights of sum
at most 1, are below an e-process. The capital of a lambda > 1/(q - b) is 0 from the first seed on that lies in A,
since there b - X <= b - q < -1/lambda. The average over *all* lambda of a fixed grid is therefore, from the first seed
in A on, below an e-process. It reaches 2/alpha at some time after that with probability at most alpha/2. And A is
missed by the first n seeds with probability (1 - a)^n, which is at most alpha/2 as soon as a >= `missed(n, alpha)`.
Hence, with probability at least 1 - alpha, whenever the capital is at least 2/alpha after n seeds although E X > b,

    a < missed(n, alpha) = 1 - (alpha/2)^(1/n):

an event of smaller probability carries the excess over the bound. Where every event that matters has at least a known
probability p (the atoms of a finite law; a client's probability to take part), missed(n, alpha) <= p rules that out.
This holds for each law at all numbers of seeds together, because A does not depend on n. The capital must be the one
after all n seeds, not the largest so far: a later seed may lie in A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Without other knowledge nothing is claimed while an event of this probability may have been missed.
RARE = 0.05

_HORIZONS: Array = np.array([10.0, 40.0, 160.0, 640.0, 2560.0, 10240.0, 40960.0])
_WEIGHTS: Array = np.array([1, 1, 3, 5, 3, 2, 1]) / 16  # most for the numbers of seeds that are usual
_ROOTS: Array = 1 / np.sqrt(_HORIZONS)
_EFFORT = 14.0  # 2 l
_STAKE = 15 / 16  # c: one value of 0 costs a factor 16, not everything
# lambda*b of the capitals that die; large ones decide bounds that lie just above all seeds
_RATES: Array = np.array([2.0**k for k in range(-8, 13)])
_SHARES: Array = np.where((_RATES >= 2**-6) & (_RATES <= 2**4), 2, 1) / 32  # their weights
_CEILING = 1e300  # capitals are capped here, so that they never overflow; capping is conservative
_FAR = 1e100  # values over the bound are capped here where they are squared


def missed(seeds: int, alpha: float) -> float:
    """The least probability of an event that `seeds` seeds see, all but for a probability of alpha/2; 1 for no seed."""
    return 1.0 if seeds == 0 else -math.expm1(math.log(alpha / 2) / seeds)


def enough(seeds: int, probability: float, alpha: float) -> bool:
    """Whether `seeds` seeds see an event of this probability, except with a probability of at most alpha/2."""
    return probability >= 1 or seeds * -math.log1p(-probability) >= -math.log(alpha / 2)


def seeds_needed(probability: float, alpha: float) -> int:
    """The least number of seeds that is `enough`, at least 1. probability: above 0."""
    found = 1 if probability >= 1 else max(1, math.ceil(math.log(alpha / 2) / math.log1p(-probability)))
    while not enough(found, probability, alpha):  # rounding
        found += 1
    return found


@dataclass(frozen=True, eq=False)
class Capital:
    """What must be remembered between seeds; leading axes (...) are replications. Values are multiples of the bound."""

    above: Array  # (7, ..., R) against E X <= b, by horizon
    below: Array  # (7, ..., R) against E X >= b by the envelope, by horizon
    dying: Array  # (21, ..., R) against E X >= b without an envelope, by rate
    peak: Array  # (..., R) largest e-value against E X <= b so far
    exceeds: Array  # (...) largest e-value against "E X <= b at all rounds" so far
    certified: Array  # (..., R) largest e-value against E X >= b by the envelope so far
    within: Array  # (..., R) e-value against E X >= b without an envelope now
    total: Array  # (..., R) sum of X
    centre: Array  # (..., R) mean of X/b
    spread: Array  # (..., R) sum of squared distances of X/b from its mean
    seeds: int


def start(shape: tuple[int, ...]) -> Capital:
    """Before the first seed; shape (..., R)."""
    zero, one = np.zeros(shape), np.ones(shape)
    horizons, rates = np.ones((_HORIZONS.size, *shape)), np.ones((_RATES.size, *shape))
    return Capital(horizons, horizons, rates, one, np.ones(shape[:-1]), one, one, zero, zero, zero, 0)


def _scale(seeds: int, centre: Array, spread: Array) -> Array:
    """sqrt(2 l/v) before the next seed, from the earlier ones; infinite where they are all 0, 0 before the first.

    The variance v is that of the earlier seeds and one more of a quarter of their squared mean.
    """
    if seeds == 0:
        return np.zeros(centre.shape)
    return np.sqrt(_EFFORT / ((spread + 0.25 * (centre * centre)) / (seeds + 1)))


def advance(state: Capital, x: Array, bound: Array, top: Array) -> Capital:
    """After one more seed x (..., R); top (R,): certain upper limits U of x, infinite where none is known.

    Only +, *, /, square roots and comparisons, whose results no vector length changes.
    """
    column = (-1, *[1] * x.ndim)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        y = np.minimum(x / bound, np.finfo(np.float64).max)
        nil = bound == 0  # E X <= 0 is refuted by one positive value, and a zero is no evidence against it
        certain = np.isinf(x) | (nil & (x > 0))
        y_low, y_up = np.where(nil | certain, 1.0, y), np.where(nil | certain, 0.0, y)
        bets = _scale(state.seeds, state.centre, state.spread) * _ROOTS.reshape(column)
        above = state.above * (1 + np.minimum(_STAKE, bets) * (y_low - 1))
        above = np.where(certain, _CEILING, np.minimum(above, _CEILING))
        room = np.where(nil, np.inf, top / bound - 1)  # U/b - 1: the bets' limit is c over this
        fair = np.minimum(_STAKE / np.where(room > 0, room, np.inf), bets)
        below = np.clip(state.below * (1 + fair * (1 - y_up)), 0.0, _CEILING)
        dying = state.dying * np.maximum(1 + _RATES.reshape(column) * (1 - y_up), 0.0)
        dying = np.where(certain, 0.0, np.minimum(dying, _CEILING))
        below = np.where(certain, 0.0, below)
        near = np.where(certain, _FAR, np.minimum(y_up, _FAR))
        away = near - state.centre
        centre = state.centre + away / (state.seeds + 1)
        spread = state.spread + away * (near - centre)
        total = state.total + x
    each = (_WEIGHTS.reshape(column) * above).sum(axis=0)
    return Capital(
        above=above,
        below=below,
        dying=dying,
        peak=np.maximum(state.peak, each),
        exceeds=np.maximum(state.exceeds, each.sum(axis=-1) / x.shape[-1]),
        certified=np.maximum(state.certified, (_WEIGHTS.reshape(column) * below).sum(axis=0)),
        within=(_SHARES.reshape(column) * dying).sum(axis=0),
        total=total,
        centre=centre,
        spread=spread,
        seeds=state.seeds + 1,
    )


def evidence_within(state: Capital, bound: Array, top: Array) -> Array:
    """Evidence (..., R) against E X >= b, of which 1/alpha decides: half of the capital where there is no envelope."""
    certain = np.where(top <= bound, np.inf, state.certified)
    return np.where(np.isfinite(top), certain, state.within / 2)


def bet_scale(samples: Array) -> Array:
    """What the bets (S, R) on each of the samples have in common: for horizon N they are this over sqrt(N)."""
    centre, spread = np.zeros(samples.shape[1]), np.zeros(samples.shape[1])
    found = np.empty(samples.shape)
    with np.errstate(divide="ignore", under="ignore"):
        for n, x in enumerate(samples):
            found[n] = _scale(n, centre, spread)
            away = x - centre
            centre = centre + away / (n + 1)
            spread = spread + away * (x - centre)
    return found


def log_exceeds(samples: Array, mean: Array, scale: Array) -> Array:
    """log of the capital (R,) against E X <= mean (R,) > 0 after all samples (S, R); scale: their `bet_scale`.

    The bets do not depend on the mean but for their cap, so that the capital decreases in it.
    """
    return _over_horizons(_STAKE / mean, samples - mean, scale)


def log_certified(samples: Array, mean: Array, top: Array, scale: Array) -> Array:
    """log of the capital (R,) against E X >= mean (R,), where X <= top; infinite where top <= mean."""
    with np.errstate(divide="ignore"):
        cap = np.where(mean < top, _STAKE / np.where(mean < top, top - mean, 1.0), 0.0)
    return np.where(mean < top, _over_horizons(cap, mean - samples, scale), np.inf)


def _over_horizons(cap: Array, gain: Array, scale: Array) -> Array:
    logs = np.stack([np.log1p(np.minimum(cap, scale * r) * gain).sum(axis=0) for r in _ROOTS])
    return _log_average(logs, _WEIGHTS)


def log_within(samples: Array, mean: Array) -> Array:
    """log of the capital (R,) against E X >= mean (R,) > 0 without an envelope, after all samples (S, R)."""
    gain = 1 - samples / mean
    with np.errstate(divide="ignore"):
        logs = np.stack([np.log(np.maximum(1 + rate * gain, 0.0)).sum(axis=0) for rate in _RATES])
    return _log_average(logs, _SHARES)


def _log_average(logs: Array, weights: Array) -> Array:
    top = logs.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        return shift + np.log((weights[:, None] * np.exp(logs - shift)).sum(axis=0))
