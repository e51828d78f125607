"""The two e-processes behind the sequential test of sampled curves.

Seeds arrive one after another; each gives non-negative values X = (X_1, ..., X_R) at the R compared
rounds, with any dependence between rounds. An e-process is a capital that starts at 1 and, under its
hypothesis, reaches 1/alpha at some time with probability at most alpha (Ville's inequality), so one may look
after every seed and stop when one likes. Write Y = X/b for the bound b.

*Against E Y <= 1* (evidence that the expectation exceeds the bound): the capital bets the fraction g of itself,
prod(1 + g*(Y - 1)), averaged over a grid of g in (0, 1]. Nothing is assumed beyond Y >= 0 (Waudby-Smith and
Ramdas, "Estimating means of bounded random variables by betting", 2024). The average over rounds is evidence
against "at all rounds", under any dependence (Vovk and Wang, "E-values: calibration, combination and
applications", 2021).

*Against E Y >= 1* (evidence that the expectation is within the bound). Without an assumption on the upper
tail no such test has any power (Bahadur and Savage, "The nonexistence of certain statistical procedures in
nonparametric problems", 1956); `Tail` states the two that are made. A mean above 1 may be shrunk to 1: the
factors below do not increase with Y.

- From E X^2 <= kappa*(E X)^2: for E Y = 1 and v > 1, E (v - Y)^2 <= D(v) = (v - 1)^2 + kappa - 1, so the factor
  1 - c + c*(v - Y)_+^2/D(v) has expectation at most 1. On a constant Y = 1 - a, with v = 1 + (kappa - 1)/a and
  c = 1, the capital grows by log(1 + a^2/(kappa - 1)) a seed, and no valid test is faster: a value of probability
  a^2/(a^2 + kappa - 1) that brings the mean to 1 may have gone unseen so far.
- From P(X >= E X) >= p: a seed lies at or above the bound with probability at least p, so the likelihood ratio of
  a smaller probability q is a capital. It decides bounds that are above nearly all seeds, however little above.

Both are averaged over a grid (v, q) and each has half of the weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput

__all__ = ["Array", "Capital", "Tail", "advance", "log_exceeds", "log_within", "start"]

Array = NDArray[np.float64]

_BETS: Array = np.array([0.5**k for k in range(8)])  # octaves: the best fixed bet is missed by 11 % of growth at most
_SLACKS: Array = np.array([0.5**k for k in range(6)])  # the slack a = 1 - E Y for which each v is best
_SHARES: Array = np.array([1 / 16, 1 / 3])  # q/p
_WEIGHTS: Array = np.array([1 / 12] * 6 + [1 / 4] * 2)  # of the slacks, then of the shares
_STAKE = 15 / 16  # c: one value above v*b costs a factor 16, not everything
_NEAR = 1 - 1e-9  # a seed this close below the bound counts as reaching it, so that rounding decides nothing
_CEILING = 1e300  # capitals are capped here, so that they never overflow; capping is conservative
_FAR = 1e100  # Y is capped here where its square is summed


@dataclass(frozen=True)
class Tail:
    """What is assumed of the metric's distribution at every compared round, for the claim "within" alone.

    moment_ratio: kappa, upper limit of E X^2/(E X)^2. It is 2 for exponential values, at most 3 for squared norms
    of centred Gaussian vectors, exp(sigma^2) for lognormal ones (2.7 at sigma = 1, 9.5 at sigma = 1.5).
    share_above: p, lower limit of P(X >= E X). It is 0.5 for normal values, 0.37 for exponential ones and 0.31 for
    lognormal ones of sigma = 1. A rare event of probability below p that carries the mean would break it.
    Raises BadInput outside 1 < moment_ratio < 1e6 and 0 < share_above <= 1/2.
    """

    moment_ratio: float = 10.0
    share_above: float = 0.05

    def __post_init__(self) -> None:
        if not 1 < self.moment_ratio < 1e6:
            raise BadInput(
                f"moment_ratio = {self.moment_ratio} is no upper limit of E X^2/(E X)^2; "
                "a number above 1 and below 1e6 is allowed."
            )
        if not 0 < self.share_above <= 0.5:
            raise BadInput(
                f"share_above = {self.share_above} is no lower limit of P(X >= E X); 0 < share_above <= 1/2 is allowed."
            )

    @property
    def trusted_ratio(self) -> float:
        """While the sample's own E X^2/(E X)^2 is above this, nothing is claimed to be within."""
        return self.moment_ratio / 2


@dataclass(frozen=True, eq=False)
class Capital:
    """What must be remembered between seeds; leading axes (...) are replications."""

    bets: Array  # (8, ..., R) against E X <= b, by fraction g
    gaps: Array  # (8, ..., R) against E X >= b, by v and then by q
    peak: Array  # (..., R) largest e-value against E X <= b so far
    exceeds: Array  # (...) largest e-value against "E X <= b at all rounds" so far
    within: Array  # (..., R) largest e-value against E X >= b so far, while the sample's ratio was trusted
    total: Array  # (..., R) sum of X
    ratio: Array  # (..., R) sum of Y
    square: Array  # (..., R) sum of Y^2
    seeds: int


def start(shape: tuple[int, ...]) -> Capital:
    """Before the first seed; shape (..., R)."""
    zero, one = np.zeros(shape), np.ones(shape)
    bets, gaps = np.ones((_BETS.size, *shape)), np.ones((_WEIGHTS.size, *shape))
    return Capital(bets, gaps, one, np.ones(shape[:-1]), one, zero, zero, zero, 0)


def advance(state: Capital, x: Array, bound: Array, tail: Tail) -> Capital:
    """After one more seed x (..., R). Only +, *, / and comparisons, whose results no vector length changes."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        y = np.minimum(x / bound, np.finfo(np.float64).max)
        nil = bound == 0  # E X <= 0 is refuted by one positive value, and a zero is no evidence against it
        certain = np.isinf(x) | (nil & (x > 0))
        y_low, y_up = np.where(nil | certain, 1.0, y), np.where(nil | certain, 0.0, y)
        bets = state.bets * (1 + _BETS.reshape(-1, *[1] * x.ndim) * (y_low - 1))
        bets = np.where(certain, _CEILING, np.minimum(bets, _CEILING))
        gaps = state.gaps * _gap_factors(y_up, (x >= _NEAR * bound) | certain, tail)
        gaps = np.where(certain, 0.0, np.minimum(gaps, _CEILING))
        total = state.total + x
    each = bets.sum(axis=0) / _BETS.size
    near = np.where(certain, _FAR, np.minimum(y_up, _FAR))
    ratio, square, seeds = state.ratio + near, state.square + near * near, state.seeds + 1
    trusted = seeds * square <= tail.trusted_ratio * (ratio * ratio)
    evidence = np.where(trusted, (_WEIGHTS.reshape(-1, *[1] * x.ndim) * gaps).sum(axis=0), 0.0)
    return Capital(
        bets=bets,
        gaps=gaps,
        peak=np.maximum(state.peak, each),
        exceeds=np.maximum(state.exceeds, each.sum(axis=-1) / x.shape[-1]),
        within=np.maximum(state.within, evidence),
        total=total,
        ratio=ratio,
        square=square,
        seeds=seeds,
    )


def _gap_factors(y: Array, reaches: NDArray[np.bool_], tail: Tail) -> Array:
    """The e-values (8, ...) of one seed against E X >= b."""
    excess = tail.moment_ratio - 1
    below = np.empty((_WEIGHTS.size, *y.shape))
    v = (1 + excess / _SLACKS).reshape(-1, *[1] * y.ndim)
    gap = np.maximum(v - y, 0.0)
    below[: _SLACKS.size] = (1 - _STAKE) + (_STAKE / ((v - 1) ** 2 + excess)) * (gap * gap)
    for k, share in enumerate(_SHARES, start=_SLACKS.size):
        below[k] = np.where(reaches, share, (1 - share * tail.share_above) / (1 - tail.share_above))
    return below


def log_exceeds(samples: Array, mean: Array) -> Array:
    """log of the capital (R,) against E X <= mean (R,) > 0 after all samples (S, R)."""
    with np.errstate(divide="ignore"):
        logs = np.stack([np.log1p(bet * (samples / mean - 1)).sum(axis=0) for bet in _BETS])
    return _log_average(logs, np.full(_BETS.size, 1 / _BETS.size))


def log_within(samples: Array, mean: Array, tail: Tail) -> Array:
    """log of the capital (R,) against E X >= mean (R,) > 0 after all samples (S, R)."""
    factors = _gap_factors(samples / mean, samples >= _NEAR * mean, tail)
    return _log_average(np.log(factors).sum(axis=1), _WEIGHTS)


def _log_average(logs: Array, weights: Array) -> Array:
    top = logs.max(axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    return shift + np.log((weights[:, None] * np.exp(logs - shift)).sum(axis=0))
