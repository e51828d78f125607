"""Truth of a relation at a rational point, by walking the SymPy tree with Fractions; no floats.

Rational operations, Min, Max and Abs are exact. A root of a power is exact, any other is enclosed between
two fractions; a relation is decided only where the enclosure decides it, otherwise the answer is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

Interval = tuple[Fraction, Fraction]


class Undefined(ArithmeticError):
    """The expression has no real value at the point (zero divisor, root of a negative, unknown symbol or function)."""


def _root(low: Fraction, high: Fraction, degree: int, bits: int) -> Interval:
    if high < 0 or low < 0:
        raise Undefined("root of a negative number")

    def floor_root(x: Fraction) -> tuple[Fraction, bool]:
        top, bottom = _whole_root(x.numerator, degree), _whole_root(x.denominator, degree)
        if top**degree == x.numerator and bottom**degree == x.denominator:
            return Fraction(top, bottom), True
        scaled = (x.numerator << (degree * bits)) // x.denominator
        return Fraction(_whole_root(scaled, degree), 1 << bits), False

    below, _ = floor_root(low)
    above, exact = floor_root(high)
    return below, above if exact else above + Fraction(1, 1 << bits)


def _whole_root(x: int, degree: int) -> int:
    """The largest integer whose power is at most x, for x >= 0."""
    if degree == 2:
        return isqrt(x)
    low, high = 0, 1 << (x.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= x else (low, middle)
    return low


def _times(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _invert(a: Interval) -> Interval:
    if a[0] <= 0 <= a[1]:
        raise Undefined("division by zero")
    return 1 / a[1], 1 / a[0]


def enclose(expr: Any, values: Mapping[str, Fraction], bits: int = 128) -> Interval:
    """Fractions low <= expr <= high at the point; equal where the value is found exactly.

    `values` maps symbol names to fractions. Raises Undefined where there is no real value, or where the enclosure
    at `bits` binary digits cannot exclude a zero divisor.
    """
    if expr.is_Rational:
        exact = Fraction(int(expr.p), int(expr.q))
        return exact, exact
    if expr.is_Symbol:
        if expr.name not in values:
            raise Undefined(f"no value for {expr.name}")
        return values[expr.name], values[expr.name]
    name = type(expr).__name__
    if name == "Pow":
        return _power(expr, values, bits)
    parts = [enclose(arg, values, bits) for arg in expr.args]
    if name == "Add":
        return sum((p[0] for p in parts), Fraction(0)), sum((p[1] for p in parts), Fraction(0))
    if name == "Mul":
        product: Interval = (Fraction(1), Fraction(1))
        for part in parts:
            product = _times(product, part)
        return product
    if name == "Min":
        return min(p[0] for p in parts), min(p[1] for p in parts)
    if name == "Max":
        return max(p[0] for p in parts), max(p[1] for p in parts)
    if name == "Abs":
        low, high = parts[0]
        return (Fraction(0) if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    raise Undefined(f"{name} is not evaluated exactly")


def _power(expr: Any, values: Mapping[str, Fraction], bits: int) -> Interval:
    base, exponent = expr.args
    if not exponent.is_Rational:
        raise Undefined(f"the exponent {exponent} is not rational")
    low, high = enclose(base, values, bits)
    if exponent.q != 1:
        low, high = _root(low, high, int(exponent.q), bits)
    power = abs(int(exponent.p))
    result: Interval = (Fraction(1), Fraction(1))
    for _ in range(power):
        result = _times(result, (low, high))
    if power % 2 == 0 and low <= 0 <= high:
        result = (Fraction(0), result[1])
    return _invert(result) if exponent.p < 0 else result


def holds(relation: Any, values: Mapping[str, Fraction]) -> bool | None:
    """Whether the SymPy relation is true at the point; None where it has no value there or stays undecided.

    Conjunctions and disjunctions are walked too.
    """
    if relation in (True, False):
        return bool(relation)
    name = type(relation).__name__
    if name in ("And", "Or"):
        answers = [holds(arg, values) for arg in relation.args]
        if name == "And":
            return False if False in answers else None if None in answers else True
        return True if True in answers else None if None in answers else False
    for bits in (128, 1024):
        try:
            enclose(relation.lhs, values, bits)  # each side must have a value, also where the difference loses a part
            enclose(relation.rhs, values, bits)
            low, high = enclose(relation.lhs - relation.rhs, values, bits)
        except Undefined:
            continue
        answer = _compare(name, low, high)
        if answer is not None:
            return answer
    return None


def _compare(name: str, low: Fraction, high: Fraction) -> bool | None:
    if name in ("LessThan", "StrictLessThan"):
        low, high = -high, -low
    if name in ("LessThan", "GreaterThan"):
        return True if low >= 0 else False if high < 0 else None
    if name in ("StrictLessThan", "StrictGreaterThan"):
        return True if low > 0 else False if high <= 0 else None
    apart = low > 0 or high < 0
    equal = low == high == 0
    if not apart and not equal:
        return None
    return equal if name == "Equality" else apart
