"""Which way a comparison goes, in numbers: an inequality, an equality, or a limit. `evidence.reasons` has the words.

Both sides are enclosures, so that an order is decided only where they are apart. What touches is decided in exact
arithmetic where the metric is known exactly, and stays undecided otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput
from boundcheck.evidence.compared_points import FLOAT_EQUAL, NEGLIGIBLE, Mask, Points
from boundcheck.evidence.confidence import Decision, SequentialTest, useful_envelope
from boundcheck.evidence.eprocess import RARE
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Grade, Outcome, Tightness

# Share of the points (the last ones) over which a limit superior is looked at.
TAIL = 0.5


@dataclass(frozen=True)
class NoLimit:
    """That a metric has no limit, by exact numbers. why: one sentence. points: its limit points, where known."""

    why: str
    points: tuple[Fraction, ...] = ()


class Rule(Enum):
    """What decided, or left open."""

    ABOVE = auto()  # the metric is above an upper bound
    START_ONLY = auto()
    VACUOUS = auto()
    CLOSE = auto()  # metric and upper bound are not apart
    WITHIN = auto()  # the metric is at most an upper bound
    LOWER = auto()  # a lower bound, whatever its outcome
    UNEQUAL = auto()
    EQUAL = auto()
    EQUAL_OPEN = auto()
    EXACT_LIMIT = auto()  # the exact limit is known, or that there is none
    LIMIT = auto()  # a limit over a finite range


@dataclass(frozen=True)
class Finding:
    """What the points say.

    at: the point that shows it (None: none does). left_out: points that are not compared, both sides being negligible.
    statistics: JSON-able account of a sequential test, or None. seeds: how many would about decide, where known.
    exactly: whether the sides were compared exactly at the point, or at all points for an equality that holds.
    """

    rule: Rule
    outcome: Outcome
    grade: Grade = Grade.SUPPORTED
    at: int | None = None
    left_out: Mask | None = None
    statistics: Mapping[str, Any] | None = None
    seeds: int | None = None
    exactly: bool = False

    @property
    def negligible(self) -> int:
        """How many points are not compared."""
        return 0 if self.left_out is None else int(self.left_out.sum())


def decide(points: Points, level: float, limit: Fraction | NoLimit | None = None) -> Finding:
    """The finding on at least one point; level: of the sequential test on random sampled curves.

    limit: the exact limit of the metric, or that it has none, where it is known; it decides a claim about the limit.
    Where rounds are missing that an average needs, nothing is called vacuous.
    """
    kind = points.statement.kind
    if kind is Kind.UPPER_BOUND:
        found = _upper_bound(points, level)
        gap = found.outcome is Outcome.VACUOUS and points.gap
        return replace(found, outcome=Outcome.UNDECIDED, grade=Grade.SUPPORTED) if gap else found
    if kind is Kind.LOWER_BOUND:
        sign = points.bound_minus(points.exact[0], 0)
        if sign is None:
            return Finding(Rule.LOWER, Outcome.UNDECIDED, at=0)
        return Finding(Rule.LOWER, Outcome.VIOLATED if sign > 0 else Outcome.HOLDS, Grade.EXACT, 0)
    known = _known_limit(points, limit) if kind.limit and limit is not None else None
    if known is not None:
        return known
    statistics = None
    if points.samples is not None:
        points, statistics = _banded(points, level)
    return replace(_equality(points) if kind is Kind.EQUALITY else _limit(points), statistics=statistics)


# --- upper bounds -----------------------------------------------------------------------------------------


def _upper_bound(points: Points, level: float) -> Finding:
    exceeds, within = _order(points)
    statistics, small = None, points.small
    if points.samples is not None:
        drawn = ~points.fixed & (~small | (points.rounding.floor <= NEGLIGIBLE))
        exceeds, within, statistics = _sampled_order(points, exceeds, within, level, drawn)
    open_ = ~exceeds & ~within
    tiny = open_ & small

    def found(rule: Rule, outcome: Outcome, grade: Grade, at: int | None = None, seeds: int | None = None) -> Finding:
        return Finding(rule, outcome, grade, at, tiny, statistics, seeds)

    if exceeds.any():
        return found(Rule.ABOVE, Outcome.VIOLATED, Grade.EXACT, _worst(points, exceeds))
    # An average over one round is the value at the start, below which no true bound lies: it is compared all the same.
    one_round = points.start_only and points.statement.metric.weights is not None and not points.gap
    if _vacuous(points) and not one_round:
        if points.start_only:
            return found(Rule.START_ONLY, Outcome.UNDECIDED, Grade.SUPPORTED)
        return found(Rule.VACUOUS, Outcome.VACUOUS, Grade.EXACT)
    open_ &= ~tiny
    if open_.any() or tiny.all():
        at, seeds = _worst(points, open_ if open_.any() else tiny), None
        if statistics and points.samples is not None:
            drawn = open_ & ~points.fixed
            seeds = about_seeds(points.samples[:, drawn], points.bound_high[drawn], level)
        return found(Rule.CLOSE, Outcome.UNDECIDED, Grade.SUPPORTED, at, seeds)
    later = within & (np.array(points.rounds) > 0)  # at the start many bounds are attained by their form
    return found(Rule.WITHIN, Outcome.HOLDS, Grade.EXACT, _worst(points, later if later.any() else within))


def _order(points: Points) -> tuple[Mask, Mask]:
    """Where the metric exceeds the bound, and where it is at most the bound; neither: undecided."""
    exceeds = points.low > points.rounding.moved(_moved(points.bound_high, points.slack), up=True)
    within = points.high <= points.rounding.moved(_moved(points.bound_low, -points.slack), up=False)
    for at, metric in enumerate(points.exact):
        if metric is not None and (points.slack or not (exceeds[at] or within[at])):
            sign = points.bound_minus(metric, at)
            exceeds[at], within[at] = sign is not None and sign < 0, sign is not None and sign >= 0
    return exceeds, within


def _moved(bound: Floats, share: float) -> Floats:
    """The bound moved by a share of its size; an infinite one stays."""
    return np.where(np.isinf(bound), bound, bound + share * np.abs(np.where(np.isinf(bound), 0.0, bound)))


def _sampled_order(
    points: Points, exceeds: Mask, within: Mask, level: float, drawn: Mask
) -> tuple[Mask, Mask, Mapping[str, Any]]:
    """The same for expectations: rounds where nothing is random keep their order, a sequential test has the others."""
    assert points.samples is not None
    exceeds, within = exceeds & points.fixed, within & points.fixed
    samples = points.samples[:, drawn]
    if not drawn.any():
        return exceeds, within, {}
    # A non-negative metric exceeds a negative bound whatever is drawn. What exceeds must exceed the upper end of the
    # bound's enclosure, what stays within the lower end; of the two claims only one can be false.
    negative = drawn & (points.bound_high < 0)
    top = np.maximum(points.rounding.at(drawn).moved(points.bound_high[drawn], up=True), 0.0)
    bottom = points.bound_low[drawn]
    beyond = np.isinf(top)  # a bound above all doubles is not exceeded by a value above all doubles
    top_end = np.full(len(top), np.inf) if points.envelope is None else points.envelope[drawn]
    envelope = useful_envelope(top_end, np.maximum(bottom, 0.0))
    rare = _least_probability(points)
    lower = SequentialTest(np.maximum(bottom, 0.0), level, envelope, rare).update(samples)
    upper = lower
    if beyond.any() or not np.array_equal(top, lower.bound):
        kept = np.where(beyond & np.isinf(samples), 0.0, samples)
        upper = SequentialTest(np.where(beyond, np.finfo(np.float64).max, top), level).update(kept)
    decision = Decision.UNDECIDED
    if upper.decision is Decision.EXCEEDS:
        decision = Decision.EXCEEDS
        exceeds[np.flatnonzero(drawn)[upper.worst_round]] = True
    elif lower.decision is Decision.WITHIN and (bottom >= 0).all():
        decision = Decision.WITHIN
        within[drawn] = True
    account = {**lower.summary(), "decision": decision.value, "e_value": upper.e_value}
    return exceeds | negative, within, account | _band(points, lower)


def about_seeds(samples: Floats, bound: Floats, level: float) -> int | None:
    """The number of seeds after which the sequential test decides, if mean and spread stay what they are.

    samples: (S, P) of the rounds that are open; bound: (P,). On values of variance v and mean b - d a capital grows by
    a factor of about exp(d^2/(2 v)) a seed (`evidence.eprocess`), and 2/(1 - level) decides; the horizons over which
    bets are averaged, and the spread's own uncertainty, cost about as much again. None for fewer than 2 seeds,
    a diverged seed, a mean at its bound, or no round.
    """
    if len(samples) < 2 or not samples.size or not np.isfinite(samples).all() or not np.isfinite(bound).all():
        return None
    distance = np.abs(bound - samples.mean(axis=0))
    if (distance == 0).any():
        return None
    with np.errstate(over="ignore"):
        needed = 2 * samples.var(axis=0, ddof=1) / distance**2 * math.log(2 / (1 - level))
        # a bet is at most 1/b, so that a seed gains at most about d/b
        needed = 2 * np.maximum(needed, np.maximum(bound, 0) / distance * math.log(2 / (1 - level)))
    most = float(needed.max(initial=0.0))
    return math.ceil(most) if most < 1e15 else None


def _least_probability(points: Points) -> float:
    """Of which events the seeds have to see all: the method's rarest choice, where that is below `RARE`."""
    return RARE if points.rarest is None else min(RARE, points.rarest.probability)


def _band(points: Points, test: SequentialTest) -> dict[str, Any]:
    """The test's band at every compared round."""
    low, high = points.low.copy(), points.high.copy()
    low[~points.fixed], high[~points.fixed] = test.lower, test.upper
    return {"lower": [float(v) for v in low], "upper": [float(v) for v in high]}


def _worst(points: Points, among: Mask) -> int:
    """The point with the largest metric over bound; at a bound that is not positive it is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(points.bound_low > 0, points.high / points.bound_low, np.inf)
    ratio = np.where((points.high == 0) & (points.bound_low == 0), 0.0, np.nan_to_num(ratio, nan=np.inf, posinf=np.inf))
    return int(np.argmax(np.where(among, ratio, -np.inf)))


def _vacuous(points: Points) -> bool:
    """Whether no compared point is known to have a bound below the trivial value."""
    low, high, trivial = points.trivial_low, points.trivial_high, points.statement.trivial
    if low is None or high is None or (points.bound_high < low).any():
        return False
    near = np.flatnonzero(points.bound_low < high)
    return not any(points.sign_of(points.statement.bound - trivial, int(at)) == -1 for at in near)


# --- equalities and limits --------------------------------------------------------------------------------


def _banded(points: Points, level: float) -> tuple[Points, Mapping[str, Any] | None]:
    """The points with the always-valid band of the expectation in place of the sample mean."""
    assert points.samples is not None
    drawn = ~points.fixed
    if not drawn.any():
        return points, None
    samples = points.samples[:, drawn]
    if not (samples >= 0).all():
        raise BadInput(
            f"{points.statement.best_id}: the statistics of sampled runs need a metric that is never negative; "
            "use the exact engine."
        )
    bound = np.zeros(int(drawn.sum()))
    test = SequentialTest(bound, level, least_probability=_least_probability(points)).update(samples)
    # of the test's account only what is about no bound: none was tested
    kept = ("level", "seeds", "least_probability", "missed", "assumptions")
    account = {k: v for k, v in test.summary().items() if k in kept} | _band(points, test)
    account["missed"] = test.missed_by_band  # each of the band's sides has its share of the level
    return replace(points, low=np.array(account["lower"]), high=np.array(account["upper"]), slack=0.0), account


def _equality(points: Points) -> Finding:
    """VIOLATED where the two sides are apart; HOLDS where exact arithmetic, or closeness, says that they are equal."""
    size = np.maximum(np.abs(points.bound_low), np.abs(points.bound_high))
    with np.errstate(invalid="ignore"):
        gap = np.maximum(points.low - points.bound_high, points.bound_low - points.high)
        reach = np.maximum(points.high, points.bound_high) - np.minimum(points.low, points.bound_low)
        differ = (gap > 0) & (gap > points.slack * size + points.rounding.floor)
        # of rigorous ends, only those that are one number say that the two sides are equal
        close = (reach <= FLOAT_EQUAL * size) if points.slack or points.samples is not None else reach == 0
    exactly = np.zeros(len(points), dtype=bool)
    for at, metric in enumerate(points.exact):
        if metric is not None:
            sign = points.bound_minus(metric, at)
            differ[at], close[at], exactly[at] = sign not in (None, 0), sign == 0, sign is not None
    if differ.any():
        at = int(np.argmax(differ))
        grade = Grade.EXACT if exactly[at] or not points.slack else Grade.SUPPORTED
        return Finding(Rule.UNEQUAL, Outcome.VIOLATED, grade, at)
    if not close.all():
        return Finding(Rule.EQUAL_OPEN, Outcome.UNDECIDED, at=int(np.argmin(close)))
    every = bool(exactly.all())
    return Finding(Rule.EQUAL, Outcome.HOLDS, Grade.EXACT if every else Grade.SUPPORTED, exactly=every)


def _known_limit(points: Points, limit: Fraction | NoLimit) -> Finding | None:
    """The claimed limit against the exact one; None where exact arithmetic does not decide which is larger."""
    last = len(points) - 1
    if isinstance(limit, NoLimit):
        return Finding(Rule.EXACT_LIMIT, Outcome.VIOLATED, Grade.EXACT, last)
    sign = points.bound_minus(limit, last)
    if sign is None:
        return None
    holds = sign == 0 or (points.statement.kind is Kind.LIMSUP and sign > 0)
    return Finding(Rule.EXACT_LIMIT, Outcome.HOLDS if holds else Outcome.VIOLATED, Grade.EXACT, last)


def _limit(points: Points) -> Finding:
    """A limit is seen over a finite range only: HOLDS at most SUPPORTED, never VIOLATED."""
    if points.statement.kind is Kind.LIMIT:
        with np.errstate(invalid="ignore"):
            away = np.maximum(points.high - points.bound_low, points.bound_high - points.low)
        known = bool(np.isfinite(away[[0, -1]]).all())  # an infinite band says nothing, nor is anything less than it
        arrived = len(points) > 1 and known and bool(away[-1] <= 1e-3 * away[0])
    else:
        tail = slice(int(len(points) * (1 - TAIL)), None)
        top = points.high[tail]
        arrived = bool((np.isfinite(top) & (top <= points.bound_low[tail])).all())
    return Finding(Rule.LIMIT, Outcome.HOLDS if arrived else Outcome.UNDECIDED, at=len(points) - 1)


# --- tightness --------------------------------------------------------------------------------------------


def tightness_of(points: Points) -> Tightness:
    """Ratios bound/metric where the bound says something, and promised over actual log-decrease.

    "Says something": is at most half the trivial value, where one is declared and some point is. The decrease is
    taken from the first point to the first such point (to the last point if there is none).
    """
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.where(points.low == points.high, points.low, points.low + (points.high - points.low) / 2)
    floor = points.rounding.floor  # a smaller metric is only known to be at most this
    middle = np.where((middle <= floor) & (floor > 0), np.where(points.bound_high > floor, floor, np.nan), middle)
    trivial = points.trivial_low
    telling = np.ones(len(middle), dtype=bool) if trivial is None else points.bound_high <= trivial / 2
    target = int(np.argmax(telling)) if trivial is not None and telling.any() else len(middle) - 1
    if not telling.any():
        telling[:] = True
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # a bound of 0 that is attained has no ratio
        ratio = np.where((middle == 0) & (points.bound_high > 0), np.inf, points.bound_high / middle)[telling]
    decrease = None
    ends = (middle[0], middle[target], points.bound_high[0], points.bound_high[target])
    if target > 0 and min(ends) > 0 and all(math.isfinite(v) for v in ends):
        actual = math.log(ends[0]) - math.log(ends[1])
        promised = math.log(ends[2]) - math.log(ends[3])
        decrease = promised / actual if actual > 0 else None
    ratio = ratio[~np.isnan(ratio)]
    if not len(ratio):
        return Tightness(math.nan, math.nan, decrease)
    return Tightness(float(ratio.min()), float(ratio.max()), decrease)
