"""The numbers of a sentence that compares metric and bound, with as many digits as the comparison needs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.core.numbers import format_apart
from boundcheck.errors import BadInput
from boundcheck.evidence.compared_points import Points
from boundcheck.theory.decide import Point
from boundcheck.theory.inputs import to_float

NEAR = Fraction(1, 10**9)  # relative distance of metric and bound below which both are written out exactly
LEAST, MOST = 1e-290, 1e300  # between these, and at 0, a double is as good as the number in a sentence
BITS = 4096  # of a number that is not a fraction


def apart(points: Points, at: int, metric: Any, bound: float, digits: int = 6) -> tuple[str, str]:
    """Metric and bound at one point, with enough digits to differ, in the order that was decided.

    metric: a fraction or an expression where it was compared exactly, else the double that was. bound: the end that is
    shown where doubles tell the two apart.
    """
    first, second = metric, bound
    if not isinstance(metric, float):
        exact = _enclosed(points, at, metric)
        first = to_float(exact)
        usual = all(v == 0 or LEAST < abs(v) < MOST for v in (first, second)) and (first != 0 or not exact)
        if not usual or abs(exact - Fraction(bound)) <= NEAR * abs(exact):  # doubles may not tell them apart
            try:
                first, second = exact, _enclosed(points, at, points.statement.bound)
            except BadInput:  # the bound is too large to be written out
                first, second = exact, bound
    texts = format_apart(first, second, digits=digits)
    return texts[0], texts[1]


def measured(points: Points, at: int) -> Any:
    """The metric at one point: a fraction or an expression where it is known exactly, else a double."""
    return float(points.low[at]) if points.exact[at] is None else points.exact[at]


def ratio_at(points: Points, at: int) -> float:
    """Bound over metric at one point, from below; infinite where that is not known to be finite."""
    metric, bound = points.exact[at], points.bound_low[at]
    if metric is not None and bound < LEAST:  # below the doubles, or nearly
        below, of = (_enclosed(points, at, side) for side in (points.statement.bound, metric))
        return to_float(below / of) if of > 0 else math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return float(bound / points.high[at]) if points.high[at] > 0 < bound else math.inf


def _enclosed(points: Points, at: int, side: Any) -> Fraction:
    """A side that was compared exactly."""
    return side if isinstance(side, Fraction) else Point(side, points.here(at)).enclose(BITS)[0]
