"""Arithmetic of the value tables: exact fractions, and 60 digits where a value is irrational.

A formula of a table is a function of named constants. `value` calls it with fractions. A root, an exponential or a
logarithm that is no fraction raises `Irrational`, and the formula is called once more with 60-digit numbers.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import mpmath

DIGITS = 60
_decimals = False  # whether the formula at hand is computed with DIGITS digits


class Irrational(Exception):
    """A value that is no fraction."""


def q(over: int, under: int) -> Any:
    """The constant over/under."""
    return mpmath.mpf(over) / under if _decimals else Fraction(over, under)


def root(x: Any, degree: int) -> Any:
    """The real root of a number that is not negative."""
    if _decimals:
        return mpmath.root(mpmath.mpf(x), degree)
    x = Fraction(x)
    parts = [round(mpmath.root(part, degree)) for part in (x.numerator, x.denominator)]
    found = Fraction(int(parts[0]), int(parts[1]))
    if found**degree != x:
        raise Irrational
    return found


def sqrt(x: Any) -> Any:
    """The square root."""
    return root(x, 2)


def cbrt(x: Any) -> Any:
    """The cube root."""
    return root(x, 3)


def exp(x: Any) -> Any:
    """The exponential."""
    if not _decimals:
        raise Irrational
    return mpmath.exp(x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    if not _decimals:
        raise Irrational
    return mpmath.log(x)


def power(x: Any, y: Any) -> Any:
    """x to a power that need not be whole."""
    if not _decimals:
        raise Irrational
    return mpmath.power(x, y)


def ceil(x: Any) -> Any:
    """The least whole number that is not below x."""
    return mpmath.ceil(x) if _decimals else math.ceil(x)


def floor(x: Any) -> Any:
    """The largest whole number that is not above x."""
    return mpmath.floor(x) if _decimals else math.floor(x)


def value(formula: Callable[..., Any], point: Mapping[str, Fraction]) -> Any:
    """The formula at a point: a Fraction, or a number of 60 digits; a tuple (left, relation, right) for a condition."""
    global _decimals
    chosen = {name: point[name] for name in inspect.signature(formula).parameters}
    try:
        return _checked(formula(**chosen), Fraction)
    except Irrational:
        _decimals = True
        try:
            with mpmath.workdps(DIGITS):
                decimals = {n: mpmath.mpf(v.numerator) / v.denominator for n, v in chosen.items()}
                return _checked(formula(**decimals), mpmath.mpf)
        finally:
            _decimals = False


def _checked(found: Any, kind: type) -> Any:
    """The value as Fraction or 60-digit number; a float in a table would hide an error below 1e-16."""
    if isinstance(found, tuple):
        left, relation, right = found
        return _checked(left, kind), relation, _checked(right, kind)
    assert not isinstance(found, float), "a table holds fractions, not floats"
    return kind(found)
