"""Ranges of values where each symbol lies between two ends, in floats with slack; wide, but good for a whole array."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

_SLACK = 2.0**-40  # covers the rounding of one operation, and of the ends on their way to floats


class Range(NDArrayOperatorsMixin):
    """The numbers from low to high, as the argument of a NumPy function; everything where an operation has no rule."""

    def __init__(self, low: float, high: float) -> None:
        known = not (math.isnan(low) or math.isnan(high))
        self.low = float(low) if known else -math.inf
        self.high = float(high) if known else math.inf

    @staticmethod
    def of(value: Any) -> Range:
        """The value itself where it is a range."""
        return value if isinstance(value, Range) else Range(float(value), float(value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Range:
        rule = _RULES.get(ufunc, _everything)
        return rule(*(Range.of(v) for v in inputs)).widened()

    def widened(self) -> Range:
        """With slack on both sides."""
        return Range(self.low - abs(self.low) * _SLACK, self.high + abs(self.high) * _SLACK)

    def power(self, exponent: Range) -> Range:
        """base^exponent; a base below 0 counts with its modulus and both signs."""
        size = abs(self) if self.low < 0 else self
        found = _corners(size, exponent, _power).widened()
        return found if self.low > 0 else Range(-found.high, found.high)


def _corners(left: Range, right: Range, combine: Callable[[float, float], float]) -> Range:
    values = [combine(x, y) for x in (left.low, left.high) for y in (right.low, right.high)]
    return _everything() if any(math.isnan(v) for v in values) else Range(min(values), max(values))


def _everything(*arguments: Range) -> Range:
    return Range(-math.inf, math.inf)


def _quotient(top: Range, bottom: Range) -> Range:
    return _corners(top, bottom, lambda x, y: x / y) if bottom.low > 0 or bottom.high < 0 else _everything()


def _sum(left: Range, right: Range) -> Range:
    low, high = left.low + right.low, left.high + right.high
    lost = _SLACK * max(abs(v) for v in (left.low, left.high, right.low, right.high))
    return Range(low - lost, high + lost)


def _modulus(value: Range) -> Range:
    low, high = sorted((abs(value.low), abs(value.high)))
    return Range(low if value.low > 0 or value.high < 0 else 0.0, high)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return math.nan


_RULES: dict[Any, Callable[..., Range]] = {
    np.add: _sum,
    np.subtract: lambda x, y: _sum(x, Range(-y.high, -y.low)),
    np.negative: lambda x: Range(-x.high, -x.low),
    np.multiply: lambda x, y: _corners(x, y, lambda p, q: p * q),
    np.divide: _quotient,
    np.absolute: _modulus,
    np.sqrt: lambda x: Range(math.sqrt(max(x.low, 0.0)), math.sqrt(max(x.high, 0.0))),
    np.exp: lambda x: Range(
        math.exp(x.low) if x.low < 700 else math.inf, math.exp(x.high) if x.high < 700 else math.inf
    ),
    np.minimum: lambda x, y: Range(min(x.low, y.low), min(x.high, y.high)),
    np.maximum: lambda x, y: Range(max(x.low, y.low), max(x.high, y.high)),
}
