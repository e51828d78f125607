"""Which way a comparison goes, by the statement's kind: inequality, equality, or a limit.

Both sides are enclosures, so that an order is decided only where they are apart. What touches is decided in exact
arithmetic where the metric is known exactly, and stays undecided otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_apart, format_short
from boundcheck.engines.curve import Floats
from boundcheck.errors import BadInput
from boundcheck.evidence.compared_points import FLOAT_EQUAL, Mask, Points, index_name
from boundcheck.evidence.confidence import Decision, SequentialTest, useful_envelope
from boundcheck.evidence.eprocess import RARE
from boundcheck.evidence.numbers_in_sentences import apart, measured, ratio_at
from boundcheck.evidence.seeds import about_seeds, words_for
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Grade, Outcome, Tightness

# Share of the points (the last ones) over which a limit superior is looked at.
TAIL = 0.5
# Two sides that are both below this are zero for every purpose and are not compared where doubles cannot order them.
NEGLIGIBLE = 1e-300


@dataclass(frozen=True)
class NoLimit:
    """That a metric has no limit, by exact numbers. why: one sentence. points: its limit points, where known."""

    why: str
    points: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Judgement:
    """What the points say. at: the point that shows it (None: none does). negligible: points left out because both
    sides are below 1e-300. statistics: JSON-able account of a sequential test, or None.
    """

    outcome: Outcome
    grade: Grade | None
    reason: str
    at: int | None = None
    negligible: int = 0
    statistics: Mapping[str, Any] | None = None


def judge(points: Points, level: float, limit: Fraction | NoLimit | None = None) -> Judgement:
    """The judgement on at least one point; level: of the sequential test on random sampled curves.

    limit: the exact limit of the metric, or that it has none, where it is known; it decides a claim about the limit.
    Where rounds are missing that an average needs, the reason says so, and nothing is called vacuous.
    """
    found = _judged(points, level, limit)
    if not points.gap:
        return found
    found = replace(found, reason=f"{found.reason} {points.gap}")
    vacuous = found.outcome is Outcome.VACUOUS
    return replace(found, outcome=Outcome.UNDECIDED, grade=Grade.SUPPORTED) if vacuous else found


def _judged(points: Points, level: float, limit: Fraction | NoLimit | None) -> Judgement:
    kind = points.statement.kind
    if kind is Kind.UPPER_BOUND:
        return _upper_bound(points, level)
    if kind is Kind.LOWER_BOUND:
        return _lower_bound(points)
    if kind.limit and limit is not None:
        found = _known_limit(points, limit)
        if found is not None:
            return found
    statistics = None
    if points.samples is not None:
        points, statistics = _banded(points, level)
    found = _equality(points) if kind is Kind.EQUALITY else _limit(points)
    if found.outcome is Outcome.HOLDS and statistics and statistics["missed"] is not None:
        found = replace(found, reason=f"{found.reason} {_missed(points, statistics)}")
    return replace(found, statistics=statistics)


def _name(points: Points, at: int) -> str:
    if points.statement.metric.value is not None:
        return "these numbers"
    return f"{index_name(points.statement)} = {format_short(points.index[at])}"


def _indices(points: Points) -> str:
    name = points.statement.metric.index
    return "rounds" if name is None else f"values of {name}"


def _all(count: int) -> str:
    return "the one compared point" if count == 1 else f"all {count} compared points"


def _hint(points: Points) -> str:
    return '; arithmetic = "rational" may decide it' if points.rational else ""


# --- upper bounds -----------------------------------------------------------------------------------------


def _upper_bound(points: Points, level: float) -> Judgement:
    exceeds, within = _order(points)
    statistics = None
    least = np.maximum(points.rounding.floor, NEGLIGIBLE)
    small = (points.high <= least) & (points.bound_low >= 0) & (points.bound_high <= least)
    if points.samples is not None:
        drawn = ~points.fixed & (~small | (points.rounding.floor <= NEGLIGIBLE))
        exceeds, within, statistics = _sampled_order(points, exceeds, within, level, drawn)
    open_ = ~exceeds & ~within
    tiny = open_ & small
    negligible = int(tiny.sum())
    if exceeds.any():
        at = _worst(points, exceeds)
        metric, bound = apart(points, at, measured(points, at), float(points.bound_high[at]))
        sides = f"is {metric}, above the bound {bound}."
        if points.samples is None or points.fixed[at]:
            reason = f"At {_name(points, at)} the metric {sides}"
        else:  # the test refutes that all rounds stay within, not one round by itself
            reason = (
                "At some compared round the expectation is above the bound, most clearly at "
                f"{_name(points, at)}, where the mean over the seeds {sides}"
            )
        return Judgement(Outcome.VIOLATED, Grade.EXACT, reason, at, negligible, statistics)
    start = not any(points.rounds) and points.statement.metric.value is None
    # An average over one round is the value at the start, below which no true bound lies: it is compared all the same.
    one_round = start and points.statement.metric.weights is not None and not points.gap
    if _vacuous(points) and not one_round:
        if start:
            reason = f"Only the start was compared, which decides nothing; compare at later {_indices(points)}."
            return Judgement(Outcome.UNDECIDED, Grade.SUPPORTED, reason, None, negligible, statistics)
        reason = "The bound is nowhere in the compared range below its trivial value."
        if points.trivial_high is not None and not points.trivial_high.any():
            reason = "The trivial value is 0 from the start on, so that no bound is below it; start elsewhere."
        return Judgement(Outcome.VACUOUS, Grade.EXACT, reason, None, negligible, statistics)
    open_ &= ~tiny
    if open_.any() or tiny.all():
        at = _worst(points, open_ if open_.any() else tiny)
        reason = f"Metric and bound are too close to decide at {_name(points, at)}{_hint(points)}."
        few = False
        if small[at]:
            reason = f"At {_name(points, at)} metric and bound are both below {least[at]:.2g}: {_below(points)}."
        if statistics and statistics["seeds"] < statistics["seeds_needed"]:
            few, reason = True, _too_few(points, statistics)
        if statistics and points.samples is not None:
            drawn = open_ & ~points.fixed
            guess = about_seeds(points.samples[:, drawn], points.bound_high[drawn], level)
            if guess is not None and (not few or guess > statistics["seeds_needed"]):
                reason += words_for(max(guess, statistics["seeds_needed"]), statistics["seeds"])
        return Judgement(Outcome.UNDECIDED, Grade.SUPPORTED, reason, at, negligible, statistics)
    later = within & (np.array(points.rounds) > 0)  # at the start many bounds are attained by their form
    at = _worst(points, later if later.any() else within)
    reason = f"The metric is at most the bound at {_all(int(within.sum()))}; closest at {_name(points, at)}"
    ratio = ratio_at(points, at)
    reason += f", where bound/metric is {ratio:.5g}." if math.isfinite(ratio) else "."
    if negligible:
        highest = f"{least[tiny].max():.2g}"
        first = _name(points, int(np.argmax(tiny)))
        reason += f" {negligible} more, where both are below {highest}, were left out, the first at {first}: "
        reason += f"{_below(points)}."
    if statistics:
        reason += f" {_missed(points, statistics)}"
    return Judgement(Outcome.HOLDS, Grade.EXACT, reason, at, negligible, statistics)


def _below(points: Points) -> str:
    """Why nothing is decided about small values."""
    rounded = (points.rounding.floor > NEGLIGIBLE).any()
    return "rounding in doubles decides nothing" if rounded else "doubles do not hold them"


def _lower_bound(points: Points) -> Judgement:
    """The order of two numbers, decided exactly."""
    sign = points.sign_of(points.statement.bound - points.exact[0], 0)
    if sign is None:
        return Judgement(Outcome.UNDECIDED, Grade.SUPPORTED, "Metric and bound are too close to decide.", 0)
    metric, bound = apart(points, 0, points.exact[0], float(points.bound_low[0]))
    if sign > 0:
        reason = f"At {_name(points, 0)} the metric is {metric}, below the bound {bound}."
        return Judgement(Outcome.VIOLATED, Grade.EXACT, reason, 0)
    return Judgement(Outcome.HOLDS, Grade.EXACT, f"The metric {metric} is at least the bound {bound}.", 0)


def _order(points: Points) -> tuple[Mask, Mask]:
    """Where the metric exceeds the bound, and where it is at most the bound; neither: undecided."""
    exceeds = points.low > points.rounding.moved(_moved(points.bound_high, points.slack), up=True)
    within = points.high <= points.rounding.moved(_moved(points.bound_low, -points.slack), up=False)
    for at, metric in enumerate(points.exact):
        if metric is not None and (points.slack or not (exceeds[at] or within[at])):
            sign = points.sign_of(points.statement.bound - _rational(metric), at)
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
    rounding = points.rounding.at(drawn)
    top = np.maximum(rounding.moved(points.bound_high[drawn], up=True), 0.0)
    bottom = points.bound_low[drawn]
    beyond = np.isinf(top)  # a bound above all doubles is not exceeded by a value above all doubles
    top_end = np.full(len(top), np.inf) if points.envelope is None else points.envelope[drawn]
    least = _least_probability(points)
    lower = SequentialTest(
        np.maximum(bottom, 0.0),
        level=level,
        envelope=useful_envelope(top_end, np.maximum(bottom, 0.0)),
        least_probability=least,
    ).update(samples)
    upper = lower
    if beyond.any() or not np.array_equal(top, lower.bound):
        kept = np.where(beyond & np.isinf(samples), 0.0, samples)
        upper = SequentialTest(np.where(beyond, np.finfo(np.float64).max, top), level=level).update(kept)
    decision = Decision.UNDECIDED
    if upper.decision is Decision.EXCEEDS:
        decision = Decision.EXCEEDS
        exceeds[np.flatnonzero(drawn)[upper.worst_round]] = True
    elif lower.decision is Decision.WITHIN and (bottom >= 0).all():
        decision = Decision.WITHIN
        within[drawn] = True
    account = {**lower.summary(), "decision": decision.value, "e_value": upper.e_value}
    return exceeds | negative, within, account | _band(points, lower)


def _least_probability(points: Points) -> float:
    """Of which events the seeds have to see all: the method's rarest choice, where that is below `RARE`."""
    return RARE if points.rarest is None else min(RARE, points.rarest.probability)


def _missed(points: Points, statistics: Mapping[str, Any]) -> str:
    """What a claim that the metric stays within its bound rests on, in a sentence or two."""
    if statistics["missed"] is None:
        return f"Unseen events cannot change this, since the metric has certified upper limits: {points.envelope_how}."
    seen = f"{statistics['missed']:.3g} (at level {statistics['level']:g})"
    what = f"The {statistics['seeds']} seeds could have missed events of probability below {seen}"
    if points.rarest is None:
        return f"{what}, one of which may carry the expectation above the bound."
    rare = (
        f"the rarest choice of the method, that {points.rarest.event}, has probability {points.rarest.probability:.3g}"
    )
    return f"{what}; {rare}."


def _too_few(points: Points, statistics: Mapping[str, Any]) -> str:
    """Why the seeds are too few to say that the metric stays within its bound, and how many would do."""
    least, level = statistics["least_probability"], statistics["level"]
    missed, least_text = format_apart(statistics["missed"], least, digits=3)
    rarest = points.rarest
    which = "the probability 0.05 of an event that has to be seen"
    if rarest is not None and rarest.probability == least:
        which = f"the probability {least_text} that {rarest.event}"
    return (
        f"The {statistics['seeds']} seeds could have missed events of probability below {missed} "
        f"(at level {level:g}), which is above {which}; {statistics['seeds_needed']} seeds are needed."
    )


def _band(points: Points, test: SequentialTest) -> dict[str, Any]:
    """The test's band at every compared round."""
    low, high = points.low.copy(), points.high.copy()
    low[~points.fixed], high[~points.fixed] = test.lower, test.upper
    return {"lower": [float(v) for v in low], "upper": [float(v) for v in high]}


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
    test = SequentialTest(
        np.zeros(int(drawn.sum())),
        level=level,
        least_probability=_least_probability(points),
    ).update(samples)
    # of the test's account only what is about no bound: none was tested
    kept = ("level", "seeds", "least_probability", "missed", "assumptions")
    account = {k: v for k, v in test.summary().items() if k in kept} | _band(points, test)
    account["missed"] = test.missed_by_band  # each of the band's sides has its share of the level
    return replace(points, low=np.array(account["lower"]), high=np.array(account["upper"]), slack=0.0), account


def _worst(points: Points, among: Mask) -> int:
    """The point with the largest metric over bound; at a bound that is not positive it is infinite."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(points.bound_low > 0, points.high / points.bound_low, np.inf)
    ratio = np.where((points.high == 0) & (points.bound_low == 0), 0.0, np.nan_to_num(ratio, nan=np.inf, posinf=np.inf))
    return int(np.argmax(np.where(among, ratio, -np.inf)))


def _vacuous(points: Points) -> bool:
    """Whether no compared point is known to have a bound below the trivial value."""
    low, high, trivial = points.trivial_low, points.trivial_high, points.statement.trivial
    if low is None or high is None:
        return False
    if (points.bound_high < low).any():
        return False
    near = np.flatnonzero(points.bound_low < high)
    return not any(points.sign_of(points.statement.bound - trivial, int(at)) == -1 for at in near)


# --- equalities and limits --------------------------------------------------------------------------------


def _equality(points: Points) -> Judgement:
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
            sign = points.sign_of(points.statement.bound - _rational(metric), at)
            differ[at], close[at], exactly[at] = sign not in (None, 0), sign == 0, sign is not None
    if differ.any():
        at = int(np.argmax(differ))
        found, claimed = apart(points, at, measured(points, at), float(points.bound_low[at]), 10)
        return Judgement(
            Outcome.VIOLATED,
            Grade.EXACT if exactly[at] or not points.slack else Grade.SUPPORTED,
            f"At {_name(points, at)} the metric is {found}, not {claimed}.",
            at,
        )
    if not close.all():
        at = int(np.argmin(close))
        reason = f"The equality could not be decided at {_name(points, at)}{_hint(points)}."
        return Judgement(Outcome.UNDECIDED, Grade.SUPPORTED, reason, at)
    grade = Grade.EXACT if exactly.all() else Grade.SUPPORTED
    how = "" if grade is Grade.EXACT else f" to a relative {FLOAT_EQUAL:g}"
    return Judgement(Outcome.HOLDS, grade, f"Both sides are equal at {_all(len(points))}{how}.")


def _known_limit(points: Points, limit: Fraction | NoLimit) -> Judgement | None:
    """The claimed limit against the exact one; None where the two cannot be told apart."""
    last = len(points) - 1
    if isinstance(limit, NoLimit):
        return Judgement(Outcome.VIOLATED, Grade.EXACT, limit.why, last)
    sign = points.sign_of(points.statement.bound - _rational(limit), last)
    if sign is None:
        return None
    superior = points.statement.kind is Kind.LIMSUP
    if sign == 0 or (superior and sign > 0):
        reason = f"The exact limit of the metric is {format_short(limit)}, {'at most' * superior or 'as'} claimed."
        return Judgement(Outcome.HOLDS, Grade.EXACT, reason, last)
    found, claimed = apart(points, last, limit, float(points.bound_low[last]), 10)
    reason = f"The exact limit of the metric is {found}, {'above' if superior else 'not'} {claimed}."
    return Judgement(Outcome.VIOLATED, Grade.EXACT, reason, last)


def _limit(points: Points) -> Judgement:
    """A limit is seen over a finite range only: HOLDS at most SUPPORTED, never VIOLATED."""
    tail = slice(int(len(points) * (1 - TAIL)), None)
    if points.statement.kind is Kind.LIMIT:
        with np.errstate(invalid="ignore"):
            away = np.maximum(points.high - points.bound_low, points.bound_high - points.low)
        known = bool(np.isfinite(away[[0, -1]]).all())  # an infinite band says nothing, nor is anything less than it
        arrived = len(points) > 1 and known and bool(away[-1] <= 1e-3 * away[0])
        text = "The metric tends to its limit over the compared range."
        fallback = "The metric does not come within 1/1000 of its start's distance to the limit."
    else:
        top = points.high[tail]
        arrived = bool((np.isfinite(top) & (top <= points.bound_low[tail])).all())
        text = "The scaled metric stays at most the limit over the last half of the compared points."
        fallback = "The scaled metric is above its limit superior in the last half of the compared points."
    if arrived:
        return Judgement(Outcome.HOLDS, Grade.SUPPORTED, text, len(points) - 1)
    return Judgement(
        Outcome.UNDECIDED, Grade.SUPPORTED, f"{fallback} A finite range decides no limit.", len(points) - 1
    )


# --- tightness --------------------------------------------------------------------------------------------


def tightness_of(points: Points) -> Tightness:
    """Ratios bound/metric where the bound says something, and promised over actual log-decrease.

    "Says something": is at most half the trivial value, where one is declared and some point is. The decrease is
    taken from the first point to the first such point (to the last point where there is none).
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


def _rational(value: Any) -> Any:
    """A fraction as a SymPy number; an expression as it is."""
    import sympy as sp

    if not isinstance(value, Fraction):
        return value
    return sp.Rational(value.numerator, value.denominator)
