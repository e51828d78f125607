"""The words of a comparison: what `evidence.deciding` has found, as the sentences of a reason.

Metric and bound are written with as many digits as their comparison needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_apart, format_short, nearest_float
from boundcheck.errors import BadInput
from boundcheck.evidence.claim_rounds import index_name
from boundcheck.evidence.compared_points import FLOAT_EQUAL, NEGLIGIBLE, Points
from boundcheck.evidence.deciding import Finding, NoLimit, Rule
from boundcheck.theory.decide import Point
from boundcheck.theory.statement import Kind
from boundcheck.verdict import Outcome

NEAR = Fraction(1, 10**9)  # relative distance of metric and bound below which both are written out exactly
LEAST, MOST = 1e-290, 1e300  # between these, and at 0, a double is as good as the number in a sentence
BITS = 4096  # of a number that is not a fraction

_LIMITS = {
    (True, True): "The metric tends to its limit over the compared range.",
    (True, False): "The metric does not come within 1/1000 of its start's distance to the limit.",
    (False, True): "The scaled metric stays at most the limit over the last half of the compared points.",
    (False, False): "The scaled metric is above its limit superior in the last half of the compared points.",
}


def reason_of(points: Points, found: Finding, limit: Fraction | NoLimit | None = None) -> str:
    """The sentences of a finding; limit: the exact limit, or that there is none, as it was compared."""
    text = _sentence(points, found, limit)
    if found.outcome is Outcome.HOLDS and found.statistics:
        text = f"{text} {_missed(points, found.statistics)}"
    return f"{text} {points.gap}" if points.gap else text


def _sentence(points: Points, found: Finding, limit: Fraction | NoLimit | None) -> str:
    holds = found.outcome is Outcome.HOLDS
    here = "" if found.at is None else _name(points, found.at)
    match found.rule:
        case Rule.ABOVE:
            return _above(points, found)
        case Rule.START_ONLY:
            name = points.statement.metric.index
            values = "rounds" if name is None else f"values of {name}"
            return f"Only the start was compared, which decides nothing; compare at later {values}."
        case Rule.VACUOUS:
            if points.trivial_high is not None and not points.trivial_high.any():
                return "The trivial value is 0 from the start on, so that no bound is below it; start elsewhere."
            return "The bound is nowhere in the compared range below its trivial value."
        case Rule.CLOSE:
            return _close(points, found)
        case Rule.WITHIN:
            return _within(points, found)
        case Rule.LOWER:
            if found.outcome is Outcome.UNDECIDED:
                return "Metric and bound are too close to decide."
            metric, bound = _apart(points, 0, points.exact[0], float(points.bound_low[0]))
            if holds:
                return f"The metric {metric} is at least the bound {bound}."
            return f"At {here} the metric is {metric}, below the bound {bound}."
        case Rule.UNEQUAL:
            metric, claimed = _at(points, found, points.bound_low, 10)
            return f"At {here} the metric is {metric}, not {claimed}."
        case Rule.EQUAL_OPEN:
            return f"The equality could not be decided at {here}{_hint(points)}."
        case Rule.EQUAL:
            how = "" if found.exactly else f" to a relative {FLOAT_EQUAL:g}"
            return f"Both sides are equal at {_all(len(points))}{how}."
        case Rule.EXACT_LIMIT:
            return _exact_limit(points, found, limit)
        case Rule.LIMIT:
            text = _LIMITS[points.statement.kind is Kind.LIMIT, holds]
            return text if holds else f"{text} A finite range decides no limit."


def _name(points: Points, at: int) -> str:
    if points.statement.metric.value is not None:
        return "these numbers"
    return f"{index_name(points.statement)} = {format_short(points.index[at])}"


def _all(count: int) -> str:
    return "the one compared point" if count == 1 else f"all {count} compared points"


def _hint(points: Points) -> str:
    return '; arithmetic = "rational" may decide it' if points.rational else ""


# --- upper bounds -----------------------------------------------------------------------------------------


def _above(points: Points, found: Finding) -> str:
    assert found.at is not None
    metric, bound = _at(points, found, points.bound_high)
    sides = f"is {metric}, above the bound {bound}."
    if points.samples is None or points.fixed[found.at]:
        return f"At {_name(points, found.at)} the metric {sides}"
    # the test refutes that all rounds stay within, not one round by itself
    return (
        "At some compared round the expectation is above the bound, most clearly at "
        f"{_name(points, found.at)}, where the mean over the seeds {sides}"
    )


def _close(points: Points, found: Finding) -> str:
    assert found.at is not None
    text = f"Metric and bound are too close to decide at {_name(points, found.at)}{_hint(points)}."
    if points.small[found.at]:
        size = f"{points.least[found.at]:.2g}"
        text = f"At {_name(points, found.at)} metric and bound are both below {size}: {_below(points)}."
    if not found.statistics:
        return text
    seeds, needed = found.statistics["seeds"], found.statistics["seeds_needed"]
    few = seeds < needed
    if few:
        text = _too_few(points, found.statistics)
    if found.seeds is None or (few and found.seeds <= needed):
        return text
    return text + _seeds_words(max(found.seeds, needed), seeds)


def _within(points: Points, found: Finding) -> str:
    assert found.at is not None
    assert found.left_out is not None
    text = f"The metric is at most the bound at {_all(len(points) - found.negligible)}"
    text += f"; closest at {_name(points, found.at)}"
    ratio = _ratio_at(points, found.at)
    text += f", where bound/metric is {ratio:.5g}." if math.isfinite(ratio) else "."
    if found.negligible:
        highest = f"{points.least[found.left_out].max():.2g}"
        first = _name(points, int(np.argmax(found.left_out)))
        text += f" {found.negligible} more, where both are below {highest}, were left out, the first at {first}: "
        text += f"{_below(points)}."
    return text


def _below(points: Points) -> str:
    """Why nothing is decided about small values."""
    rounded = (points.rounding.floor > NEGLIGIBLE).any()
    return "rounding in doubles decides nothing" if rounded else "doubles do not hold them"


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


def _seeds_words(seeds: int | None, now: int) -> str:
    """The sentence of a reason about them; '' where nothing can be said."""
    if seeds is None:
        return ""
    if seeds <= now:
        return " A few more seeds would probably decide."
    rounded = math.ceil(seeds / 10 ** (len(str(seeds)) - 2)) * 10 ** (len(str(seeds)) - 2) if seeds > 99 else seeds
    return f" About {format_short(rounded)} seeds would decide, if their mean and spread stay what they are."


# --- limits and numbers -----------------------------------------------------------------------------------


def _exact_limit(points: Points, found: Finding, limit: Fraction | NoLimit | None) -> str:
    assert limit is not None
    if isinstance(limit, NoLimit):
        return limit.why
    superior = points.statement.kind is Kind.LIMSUP
    if found.outcome is Outcome.HOLDS:
        return f"The exact limit of the metric is {format_short(limit)}, {'at most' * superior or 'as'} claimed."
    last = len(points) - 1
    metric, claimed = _apart(points, last, limit, float(points.bound_low[last]), 10)
    return f"The exact limit of the metric is {metric}, {'above' if superior else 'not'} {claimed}."


def _at(points: Points, found: Finding, ends: Any, digits: int = 6) -> tuple[str, str]:
    """Metric and bound at the point of a finding; ends: of the bound, which doubles tell apart from the metric."""
    assert found.at is not None
    metric, low = points.exact[found.at], points.low
    if found.rule is Rule.UNEQUAL and found.statistics:  # the band was compared, not the mean
        low = found.statistics["lower"]
    metric = float(low[found.at]) if metric is None else metric
    return _apart(points, found.at, metric, float(ends[found.at]), digits)


def _apart(points: Points, at: int, metric: Any, bound: float, digits: int = 6) -> tuple[str, str]:
    """Metric and bound at one point, with enough digits to differ, in the order that was decided.

    metric: a fraction or an expression where it was compared exactly, else the double that was. bound: the end that is
    shown where doubles tell the two apart.
    """
    first, second = metric, bound
    if not isinstance(metric, float):
        exact = _enclosed(points, at, metric)
        first = nearest_float(exact)
        usual = all(v == 0 or LEAST < abs(v) < MOST for v in (first, second)) and (first != 0 or not exact)
        if not usual or abs(exact - Fraction(bound)) <= NEAR * abs(exact):  # doubles may not tell them apart
            try:
                first, second = exact, _enclosed(points, at, points.statement.bound)
            except BadInput:  # the bound is too large to be written out
                first, second = exact, bound
    texts = format_apart(first, second, digits=digits)
    return texts[0], texts[1]


def _ratio_at(points: Points, at: int) -> float:
    """Bound over metric at one point, from below; infinite where that is not known to be finite."""
    metric, bound = points.exact[at], points.bound_low[at]
    if metric is not None and bound < LEAST:  # below the doubles, or nearly
        below, of = (_enclosed(points, at, side) for side in (points.statement.bound, metric))
        return nearest_float(below / of) if of > 0 else math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return float(bound / points.high[at]) if points.high[at] > 0 < bound else math.inf


def _enclosed(points: Points, at: int, side: Any) -> Fraction:
    """A side that was compared exactly."""
    return side if isinstance(side, Fraction) else Point(side, points.here(at)).enclose(BITS)[0]
