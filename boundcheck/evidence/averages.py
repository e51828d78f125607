"""Averages of a curve over its first rounds, weighted by a formula in the round, with rigorous ends.

The average at R is sum of w_r m_r over sum of w_r, r = 0, ..., R - 1. Weights such as (1 - q)^(-r) leave the floats, so
each is kept as a float in [1/2, 1] and a power of two, and the running sums are kept relative to the largest weight so
far. Rounding: every product and every change of scale is rounded outwards, and a sum of k non-negative floats is off by
at most a relative (k + 2) u, u = 2^-52, to first order and beyond for the k that are allowed here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.linalg import fraction, rational
from boundcheck.core.numbers import format_short
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput
from boundcheck.theory.decide import Point
from boundcheck.theory.statement import ROUND, Statement

MOST_ROUNDS = 200_000  # an average needs every round up to its last
_SPAN = 512  # binary orders of magnitude that the weights of one block may cover
_LONG = 1 << 18  # bits of an exact sum beyond which it is given up


@dataclass(frozen=True)
class Weights:
    """w_r for r = 0, ..., N - 1: low * 2^power <= w_r <= high * 2^power, low and high (N,) within [1/4, 1].

    one: whether all weights are exactly equal, so that the average is the plain mean.
    """

    low: Floats
    high: Floats
    power: NDArray[np.int64]
    one: bool

    def __len__(self) -> int:
        return len(self.power)


def weights_of(statement: Statement, values: Mapping[str, Fraction], count: int) -> Weights:
    """The weights of the first `count` rounds. values: all symbols of the formula but the round.

    Raises NoAverage where one is not positive, BadInput where one cannot be enclosed.
    """
    expr = statement.metric.weights
    point = Point(expr, {**values, ROUND.name: Fraction(0)})
    if ROUND not in expr.free_symbols:
        if point.sign() != 1:
            raise _not_positive(statement, 0)
        ones = np.ones(count)
        return Weights(ones, ones, np.zeros(count, dtype=np.int64), one=True)
    middle, power = np.empty(count), np.empty(count, dtype=np.int64)
    for r in range(count):
        point.move(ROUND.name, Fraction(r))
        ball = point.accurate_ball(64)
        if not ball > 0:
            raise _not_positive(statement, r)
        if ball.rel_accuracy_bits() < 60:
            raise BadInput(f"{statement.best_id}: the weight of round {r} could not be enclosed.")
        mantissa, exponent = (int(part) for part in ball.mid().man_exp())
        bits = mantissa.bit_length()
        middle[r], power[r] = mantissa / (1 << bits), exponent + bits
    # off by the rounding of the division (half a unit) and by the ball (2^-60 of it): two units are more
    low = np.nextafter(np.nextafter(middle, 0.0), 0.0)
    return Weights(low, np.nextafter(np.nextafter(middle, 2.0), 2.0), power, one=False)


class NoAverage(BadInput):
    """The weights of a statement's average are no weights at these constants."""


def _not_positive(statement: Statement, r: int) -> NoAverage:
    return NoAverage(
        f"{statement.best_id}: the weight of round {r} is not positive at these constants, so that there is no average."
    )


# --- enclosures -------------------------------------------------------------------------------------------


def averages(weights: Weights, low: Floats, high: Floats, ends: Sequence[int]) -> tuple[Floats, Floats]:
    """Rigorous ends of the average over rounds 0 to R - 1 for each R of `ends`.

    low, high (N,): around the metric at every round. ends: increasing, from 1 to N. NaN stays NaN.
    """
    at = np.array(ends, dtype=np.int64) - 1
    if not len(at):
        return np.empty(0), np.empty(0)
    with np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore"):
        plus_low, _ = _sums(weights, np.maximum(low, 0.0), at)
        _, plus_high = _sums(weights, np.maximum(high, 0.0), at)
        total_low, total_high = _sums(weights, np.ones(len(weights)), at)
        if (low < 0).any():
            minus_low, _ = _sums(weights, np.maximum(-high, 0.0), at)
            _, minus_high = _sums(weights, np.maximum(-low, 0.0), at)
            plus_low = np.nextafter(plus_low - minus_high, -np.inf)
            plus_high = np.nextafter(plus_high - minus_low, np.inf)
        bottom = plus_low / np.where(plus_low >= 0, total_high, total_low)
        top = plus_high / np.where(plus_high >= 0, total_low, total_high)
    bottom = np.where(bottom == 0, bottom, np.nextafter(bottom, -np.inf))
    bottom = np.where(np.isnan(top), np.nan, bottom)
    return bottom, np.where(top == 0, top, np.nextafter(top, np.inf))


def _sums(weights: Weights, terms: Floats, at: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Ends of sum of w_r terms_r up to each position of `at`, over 2^power of that position's scale; terms >= 0.

    The scale of a position depends on the weights alone, so that quotients of two such sums mean what they say.
    """
    low, high = np.empty(len(at)), np.empty(len(at))
    carried = (0.0, 0.0)
    before = None
    for start, stop, scale in _blocks(weights):
        if before is not None:
            carried = _rescaled(carried, before - scale)
        below, above = _scaled(weights, slice(start, stop), scale)
        down = np.where(terms[start:stop] == 0, 0.0, _down(below * terms[start:stop]))
        up = np.where(terms[start:stop] == 0, 0.0, np.nextafter(above * terms[start:stop], np.inf))
        grown = (np.arange(1, stop - start + 1) + 2) * 2.0**-52
        bottom = np.cumsum(np.concatenate([[carried[0]], down]))[1:] * (1 - grown)
        top = np.cumsum(np.concatenate([[carried[1]], up]))[1:] * (1 + grown)
        inside = (at >= start) & (at < stop)
        low[inside], high[inside] = bottom[at[inside] - start], top[at[inside] - start]
        carried, before = (float(bottom[-1]), float(top[-1])), scale
    return low, high


def _down(products: Floats) -> Floats:
    """Rounded down, not below 0; 0 times infinity is at least 0."""
    return np.maximum(np.nextafter(np.where(np.isnan(products), 0.0, products), -np.inf), 0.0)


def _rescaled(ends: tuple[float, float], power: int) -> tuple[float, float]:
    """The two ends times 2^power, power <= 0, rounded outwards."""
    low, high = (float(np.ldexp(v, max(power, -4000))) for v in ends)
    exact = power == 0 or (high == 0 and ends[1] == 0)
    return (low, high) if exact else (max(np.nextafter(low, -np.inf), 0.0), float(np.nextafter(high, np.inf)))


def _scaled(weights: Weights, here: slice, scale: int) -> tuple[Floats, Floats]:
    """The ends of the weights over 2^scale; what underflows is rounded outwards."""
    if weights.one:
        return weights.low[here], weights.high[here]
    shift = np.maximum(weights.power[here] - scale, -4000).astype(np.int32)
    low, high = np.ldexp(weights.low[here], shift), np.ldexp(weights.high[here], shift)
    lost = shift < -1000
    return np.where(lost, _down(low), low), np.where(lost, np.nextafter(high, np.inf), high)


def _blocks(weights: Weights) -> Iterator[tuple[int, int, int]]:
    """(start, stop, scale): ranges whose weights are of about one size; 2^scale is the largest of all up to there."""
    cuts = np.flatnonzero(np.diff(weights.power // _SPAN)) + 1
    edges = [0, *cuts.tolist(), len(weights)]
    scale = None
    for start, stop in itertools.pairwise(edges):
        own = int(weights.power[start:stop].max())
        scale = own if scale is None else max(scale, own)
        yield start, stop, scale


# --- samples and exact numbers ----------------------------------------------------------------------------


def sampled_averages(weights: Weights, samples: Floats, ends: Sequence[int]) -> Floats:
    """The averages of each seed's own metrics, in plain floats: samples (S, N) to (S, len(ends))."""
    found = np.empty((len(samples), len(ends)))
    at = np.array(ends, dtype=np.int64) - 1
    total, _ = _sums(weights, np.ones(len(weights)), at)
    scales = np.empty(len(weights), dtype=np.int64)
    for start, stop, scale in _blocks(weights):
        scales[start:stop] = scale
    mean, done = np.zeros(len(samples)), 0
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for j, end in enumerate(ends):
            share = 0.0
            if done:
                moved = float(np.ldexp(total[j - 1], max(int(scales[done - 1] - scales[end - 1]), -4000)))
                share = moved / total[j]
            power = np.maximum(weights.power[done:end] - scales[end - 1], -4000).astype(np.int32)
            part = np.ldexp(weights.low[done:end], power) / total[j]
            old = mean * share if share else np.zeros(len(samples))
            fresh = samples[:, done:end]
            if not np.isfinite(fresh).all():  # what has no weight does not count, however large
                fresh = np.where(part == 0, 0.0, fresh)
            mean = old + np.einsum("sr,r->s", fresh, part)
            found[:, j], done = mean, end
    return found


def least_so_far(values: Floats, ends: Sequence[int]) -> Floats:
    """The least of the first R entries for each R of `ends`, of every row: (..., N) to (..., len(ends)); NaN stays."""
    return np.minimum.accumulate(values, axis=-1)[..., np.array(ends, dtype=np.int64) - 1]


def exact_averages(
    statement: Statement, values: Mapping[str, Fraction], metrics: Sequence[Fraction], ends: Sequence[int]
) -> list[Fraction | None]:
    """The averages as fractions, where the weights are rational and the sums not too long; metrics: every round's."""
    point = Point(statement.metric.weights, {**values, ROUND.name: Fraction(0)})
    wanted = set(ends)
    found: dict[int, Fraction | None] = {}
    top = bottom = rational(Fraction(0))
    for r, metric in enumerate(metrics[: max(ends, default=0)]):
        point.move(ROUND.name, Fraction(r))
        weight = point.exact()
        if weight is None or int(top.q).bit_length() > _LONG:
            break
        share = rational(weight)
        top, bottom = top + share * rational(metric), bottom + share
        if r + 1 in wanted:
            found[r + 1] = fraction(top / bottom)
    return [found.get(end) for end in ends]


def check_rounds(statement: Statement, count: int, at: Fraction) -> int:
    """The number of averaged rounds, BadInput where there are none or too many."""
    if not 1 <= count <= MOST_ROUNDS:
        name = statement.metric.index or "rounds"
        raise BadInput(
            f"{statement.best_id}: at {name} = {format_short(at)} the metric is an average over {count} rounds, each "
            f"of which is measured; from 1 to {MOST_ROUNDS} are allowed."
        )
    return count
