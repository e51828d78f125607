"""Summaries of a metric over rounds: its mean with weights, or its least value so far, on any grid of rounds.

A summary at round r is over the points after 0, ..., r finished rounds. A curve keeps it beside its metrics
(`Curve.summaries`), so that it needs no values of the rounds between those of its grid. The value of a point that is
drawn with the weights has the mean as its expectation.

The mean is the sum of w_r m_r over the sum of w_r, in fractions or balls: weights like (1 - q)^(-r) leave floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb

from boundcheck.core.linalg import float_down, float_up, fraction, nearest_float, outward, precision, rational
from boundcheck.engines.curve import Curve
from boundcheck.engines.curve_parts import Arithmetic, Envelope, Floats, Ints
from boundcheck.errors import BadInput, UnknownName
from boundcheck.theory.decide import Point
from boundcheck.theory.statement import ROUND, Average, Statement

MOST_ROUNDS = 1_000_000  # a summary is of every round up to its last
_BITS = 128  # of the sums in balls
_LONG = 1 << 18  # bits of an exact sum beyond which it is given up


@dataclass(frozen=True)
class Summary:
    """How the values of a metric at the points after 0, 1, 2, ... rounds become one number.

    average: MEAN (of DRAWN it is the expectation) or LEAST. weights: of a mean, w_r as a SymPy expression in `ROUND`
    alone. label: who asks, for messages.
    """

    metric: str
    average: Average = Average.MEAN
    weights: Any = ROUND**0
    label: str = field(default="", compare=False)

    @property
    def key(self) -> str:
        """Its name in `Curve.summaries`, such as "mean gap" or "mean gap, weights r + 1"."""
        more = "" if ROUND not in self.weights.free_symbols else f", weights {self.weights}"
        return f"{self.average.value} {self.metric}{more}"


LEAST_OF = f"{Average.LEAST.value} "  # how the keys of least values begin


def summary_of(statement: Statement, values: Mapping[str, Fraction], metric: str | None = None) -> Summary:
    """The summary that a statement is about. values: of all symbols of its weights. metric: another than its own."""
    own, name = statement.metric, metric or statement.metric.quantity
    if own.average is Average.LEAST:
        return Summary(name, Average.LEAST, label=statement.best_id)
    lacking = sorted({s.name for s in own.weights.free_symbols - {ROUND}} - set(values))
    if lacking:
        raise BadInput(f"{statement.best_id}: no value for {', '.join(lacking)}, on which its weights depend.")
    return Summary(name, Average.MEAN, own.weights_at(values), statement.best_id)


def asked_summaries(asked: Iterable[Summary | str], metrics: Iterable[str], last: int) -> tuple[Summary, ...]:
    """Summaries as objects; the words "mean" and "least" ask for those of every metric. Raises UnknownName, BadInput
    for more rounds than are summarised."""
    words, found = [Average.MEAN.value, Average.LEAST.value], list[Summary]()
    for one in asked:
        if not isinstance(one, Summary) and one not in words:
            raise UnknownName("the summary", str(one), words)
        found += [one] if isinstance(one, Summary) else [Summary(name, Average(one)) for name in metrics]
    if found and last >= MOST_ROUNDS:
        raise BadInput(
            f"'{found[0].key}' is over {last + 1} rounds, each of which is measured; at most {MOST_ROUNDS} are allowed."
        )
    return tuple(dict.fromkeys(found))


def places_of(grid: Sequence[int]) -> Ints:
    """The rounds at which a run keeps its summaries: those of its grid and the ones before them, where the points that
    came before a round of the grid end."""
    return np.unique([r - d for r in grid for d in (0, 1) if r >= d]).astype(np.int64)


class NoAverage(BadInput):
    """The weights of a mean are no weights at these constants."""


@lru_cache(maxsize=16)
def weights_of(summary: Summary, count: int) -> Sequence[arb]:
    """w_r for r = 0, ..., count - 1, each enclosed to a relative 2^-60.

    Raises NoAverage where one is not positive, BadInput where one cannot be enclosed.
    """
    point = Point(summary.weights, {ROUND.name: Fraction(0)})
    changing, found = ROUND in summary.weights.free_symbols, list[arb]()
    for r in range(count if changing else min(count, 1)):
        point.move(ROUND.name, Fraction(r))
        ball = point.accurate_ball(64) if changing or point.sign() == 1 else arb(0)
        if not ball > 0:
            raise NoAverage(
                f"{summary.label or summary.key}: the weight of round {r} is not positive at these constants, so that "
                "there is no average."
            )
        if ball.rel_accuracy_bits() < 60:
            raise BadInput(f"{summary.label or summary.key}: the weight of round {r} could not be enclosed.")
        found.append(ball if changing else arb(1))
    return found if changing else found * count


def ends_of(summary: Summary, low: Floats, high: Floats, rounds: Sequence[int] | Ints) -> tuple[Floats, Floats]:
    """Rigorous ends of the summary at some rounds, increasing; low, high: around the metric at every round."""
    at = np.array(rounds, dtype=np.int64)
    count = int(at[-1]) + 1
    if summary.average is Average.LEAST:
        return np.minimum.accumulate(low[:count])[at], np.minimum.accumulate(high[:count])[at]
    wanted, found = set(at.tolist()), list[tuple[float, float]]()
    known = [np.where(np.isfinite(v), v, 0.0).tolist() for v in (low[:count], high[:count])]
    with precision(_BITS):
        total = below = above = arb(0)
        for r, (w, a, b) in enumerate(zip(weights_of(summary, count), *known, strict=True)):
            total, below, above = total + w, below + w * a, above + w * b
            if r in wanted:
                ends = (outward(v / total, nonnegative=False) for v in (below, above))
                found.append((next(ends)[0], next(ends)[2]))
    bottom, top = np.array(found).T
    for end, own in ((bottom, low), (top, high)):
        for infinite in (np.inf, -np.inf):
            end[np.logical_or.accumulate(own[:count] == infinite)[at]] = infinite
        end[np.logical_or.accumulate(np.isnan(own[:count]))[at]] = np.nan
    return bottom, top


class Running:
    """A summary of each seed's own values, in plain doubles, carried from round to round.

    What it returns does not depend on how many rounds are added at once, and its memory not on the rounds so far.
    """

    def __init__(self, summary: Summary, seeds: int, count: int) -> None:
        least = summary.average is Average.LEAST
        self._shares = None if least else iter(_shares(summary, count))
        self._kept: Floats = np.full(seeds, np.inf if least else 0.0)

    def add(self, values: Floats) -> Floats:
        """The summary after each of the next rounds; values: (S, k), the metric there."""
        if self._shares is None:
            found: Floats = np.minimum(np.minimum.accumulate(values, axis=1), self._kept[:, None])
            self._kept = found[:, -1]
            return found
        found = np.empty(values.shape)
        for j, fresh in enumerate(values.T):
            old, new = next(self._shares)  # what has no weight does not count, however large
            self._kept = (old * self._kept if old else 0.0) + (new * fresh if new else np.zeros(len(fresh)))
            found[:, j] = self._kept
        return found


@lru_cache(maxsize=16)
def _shares(summary: Summary, count: int) -> Sequence[tuple[float, float]]:
    """The weight of all rounds before and that of a round itself, over their sum, for each round."""
    found, before = list[tuple[float, float]](), arb(0)
    with precision(_BITS):
        for w in weights_of(summary, count):
            total = before + w
            found.append((float((before / total).mid()), float((w / total).mid())))
            before = total
    return found


def exact_averages(
    summary: Summary, metrics: Sequence[Fraction], rounds: Sequence[int] | Ints
) -> list[Fraction | None]:
    """The means at some rounds as fractions, where the weights are rational and the sums not too long; metrics: every
    round's."""
    point = Point(summary.weights, {ROUND.name: Fraction(0)})
    wanted = {int(r) for r in rounds}
    found: dict[int, Fraction] = {}
    top = bottom = rational(Fraction(0))
    for r, metric in enumerate(metrics[: max(wanted) + 1]):
        point.move(ROUND.name, Fraction(r))
        weight = point.exact()
        if weight is None or int(top.q).bit_length() > _LONG:
            break
        share = rational(weight)
        top, bottom = top + share * rational(metric), bottom + share
        if r in wanted:
            found[r] = fraction(top / bottom)
    return [found.get(int(r)) for r in rounds]


# --- curves ---------------------------------------------------------------------------------------------------


def rounds_held(curve: Curve) -> int:
    """How many of the rounds 0, 1, 2, ... the curve has before the first that it lacks."""
    return int(np.cumprod(curve.rounds == np.arange(len(curve.rounds))).sum())


def bounded(curve: Curve, summary: Summary, limits: Envelope) -> Curve:
    """A sampled summary with its own upper limits; limits: of the metric at every round."""
    own = ends_of(summary, limits.limits, limits.limits, curve.rounds)[1]
    return replace(curve, envelopes={summary.metric: Envelope(own, limits.how)})


def summarised(curve: Curve, summary: Summary, rounds: Sequence[int] | Ints) -> Curve:
    """The summary at these rounds (increasing) or more, as a curve of one metric: the one that the curve holds, or made
    from every round up to the last of them.

    Its ends are rigorous where those of the curve are. Raises NoAverage, and BadInput for the least value of each run
    from expectations.
    """
    if summary.key in curve.summaries or not len(rounds):
        return curve.summaries.get(summary.key, curve)
    name, at = summary.metric, np.array(rounds, dtype=np.int64)
    count, least = int(at[-1]) + 1, summary.average is Average.LEAST

    def made(arithmetic: Arithmetic, values: Floats, **more: Any) -> Curve:
        return Curve(at, {name: values}, arithmetic, expectation=curve.expectation, info=curve.info, **more)

    if name in curve.samples:
        rows = curve.samples[name][:, :count]
        samples = Running(summary, len(rows), count).add(rows)[:, at]
        with np.errstate(over="ignore"):
            mean = samples.sum(axis=0) / len(rows) if len(rows) else np.full(len(at), np.nan)
        found = made(Arithmetic.SAMPLED, mean, samples={name: samples})
        return found if name not in curve.envelopes else bounded(found, summary, curve.envelopes[name])
    if least and (curve.expectation or "normal" in curve.info):
        raise BadInput(
            f"{summary.label} is about the least {name} so far of each run, which the curve does not hold: it has "
            "expectations alone; take engine = 'sampled', or give the values of every seed."
        )
    known = curve.exact.get(name, ())[:count]
    exact: Sequence[Fraction | None] = list(itertools.accumulate(known, min)) if least else []
    exact = [exact[r] for r in at] if exact else exact_averages(summary, known, at) if known else [None]
    fractions = tuple(v for v in exact if v is not None)
    if len(fractions) == len(exact):
        low, high = (np.array([end(v) for v in fractions]) for end in (float_down, float_up))
        middle = np.array([nearest_float(v) for v in fractions])
        return made(Arithmetic.RATIONAL, middle, exact={name: fractions}, low={name: low}, high={name: high})
    row = curve.values[name]
    low, high = ends_of(summary, curve.low.get(name, row), curve.high.get(name, row), at)
    with np.errstate(invalid="ignore"):
        middle = np.clip(np.where(np.isfinite(low), low / 2 + high / 2, high), low, high)
    arithmetic = Arithmetic.BALL if curve.arithmetic is Arithmetic.RATIONAL else curve.arithmetic
    return made(arithmetic, middle, low={name: low}, high={name: high})


def on_grid(curve: Curve, grid: Sequence[int], summaries: Sequence[Summary], metrics: Sequence[str]) -> Curve:
    """The curve at some rounds alone, with summaries, of one that has every round up to the last of them.

    metrics: those to keep. What stands in the curve under the key of a summary is that summary of each outcome.
    """

    places = places_of(grid)

    def cut(at: Sequence[int] | Ints, names: Mapping[str, str]) -> Curve:
        """The curve at some rounds; names: those that it has there, and as what they stand in the curve."""
        at = np.array(at, dtype=np.int64)
        own = {
            part: {new: getattr(curve, part)[old][..., at] for new, old in names.items() if old in getattr(curve, part)}
            for part in ("values", "low", "high", "samples")
        }
        exact = {new: tuple(curve.exact[old][r] for r in at) for new, old in names.items() if old in curve.exact}
        return replace(curve, rounds=at, exact=exact, **own)

    kept = {
        s.key: cut(places, {s.metric: s.key}) if s.key in curve.values else summarised(curve, s, places)
        for s in summaries
    }
    return replace(cut(grid, {name: name for name in metrics}), summaries=kept)
