"""Exact numbers and the small text grammar in which users write them.

The exact number type of boundcheck is `fractions.Fraction`. Text is parsed here by a regular
expression and integer arithmetic; it is never evaluated.

    number  :=  [sign] decimal [ "/" decimal ]
    decimal :=  digits [ "." digits ] [ ("e" | "E") [sign] digits ]   (underscores between digits allowed)
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from boundcheck.errors import BadInput

__all__ = [
    "Number",
    "as_fraction",
    "format_exact",
    "format_short",
    "parse_grid",
    "parse_number",
    "round_down",
    "round_up",
    "simplest_between",
]

type_names = "an integer, a decimal such as 1e-3, or a ratio such as 1/3"
Number = int | float | str | Fraction

MAX_TEXT = 4000  # characters of one number
MAX_EXPONENT = 4000  # |power of ten|; larger ones would take the machine, not the user, by surprise

_DECIMAL = r"(?:\d+(?:_\d+)*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(rf"\s*([+-]?)({_DECIMAL})(?:\s*/\s*({_DECIMAL}))?\s*")


def _decimal(text: str) -> Fraction:
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    if len(exponent) > 6 or (exponent and abs(int(exponent)) > MAX_EXPONENT):
        raise BadInput(f"'{text}' has an exponent beyond {MAX_EXPONENT}.")
    whole, _, part = mantissa.partition(".")
    value = Fraction(int((whole or "0") + part), 10 ** len(part))
    power = int(exponent or 0)
    return value * 10**power if power >= 0 else value / 10**-power


def parse_number(text: str, name: str = "number") -> Fraction:
    """The exact value of `text`; `name` is the quantity named in the error.

    Raises BadInput for anything outside the grammar (so `9**9`, `sqrt(2)` and code are refused), for
    more than 4000 characters and for exponents beyond 4000.
    """
    if len(text) > MAX_TEXT:
        raise BadInput(f"{name} has {len(text)} characters; at most {MAX_TEXT} are allowed.")
    match = _NUMBER.fullmatch(text)
    if match is None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        raise BadInput(f"{name} = '{shown}' is not a number; write {type_names}.")
    sign, top, bottom = match.groups()
    value = _decimal(top)
    if bottom is not None:
        divisor = _decimal(bottom)
        if divisor == 0:
            raise BadInput(f"{name} = '{text}' divides by zero.")
        value /= divisor
    return -value if sign == "-" else value


def as_fraction(value: Any, name: str = "number") -> Fraction:
    """The exact value of an int, float (its binary value), Fraction, SymPy Rational, NumPy scalar or text.

    Raises BadInput for NaN, infinities, booleans and anything else.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return parse_number(value, name)
    if isinstance(value, bool):
        raise BadInput(f"{name} = {value} is a truth value; write {type_names}.")
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):  # includes sympy.Rational once sympy registers it
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, numbers.Real):
        as_float = float(value)
        if not math.isfinite(as_float):
            raise BadInput(f"{name} = {as_float} is not finite; write {type_names}.")
        return Fraction(as_float)
    raise BadInput(f"{name} = {value!r} is not a number; write {type_names}.")


def parse_grid(value: Any, name: str = "grid", *, integer: bool = False) -> list[Fraction]:
    """Exact points of a grid: a number, a list of numbers, or "log:low:high:count" / "lin:low:high:count".

    Log grids are rounded to integers (`integer=True`) or to six significant digits; duplicates are
    dropped, the end points are exact. Raises BadInput (unknown form, count < 2 or > 10^6, low >= high,
    low <= 0 on a log grid, a fraction where integers are asked for).
    """
    if isinstance(value, str) and value.partition(":")[0] in ("log", "lin"):
        pieces = value.split(":")
        if len(pieces) != 4:
            raise BadInput(f"{name} = '{value}' is not of the form {pieces[0]}:low:high:count.")
        low, high = (parse_number(p, name) for p in pieces[1:3])
        count = parse_number(pieces[3], f"the count of {name}")
        if count.denominator != 1 or not 2 <= count <= 10**6:
            raise BadInput(f"{name} = '{value}' asks for {pieces[3]} points; an integer from 2 to 1000000 is allowed.")
        if low >= high or (pieces[0] == "log" and low <= 0):
            raise BadInput(f"{name} = '{value}' needs {'0 < ' if pieces[0] == 'log' else ''}low < high.")
        points = _spread(low, high, int(count), log=pieces[0] == "log", integer=integer)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        points = [as_fraction(v, name) for v in value]
        if not points:
            raise BadInput(f"{name} is an empty list; give at least one point.")
    else:
        points = [as_fraction(value, name)]
    if integer:
        for p in points:
            if p.denominator != 1:
                raise BadInput(f"{name} holds {format_short(p)}; only integers are allowed.")
    return points


def _spread(low: Fraction, high: Fraction, count: int, *, log: bool, integer: bool) -> list[Fraction]:
    if integer:
        low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
        if low >= high:
            return [low]
    points = [low]
    for k in range(1, count - 1):
        if log:
            exponent = (1 - k / (count - 1)) * _log10(low) + k / (count - 1) * _log10(high)
            whole = math.floor(exponent)
            value = Fraction(f"{10 ** (exponent - whole):.6g}") * Fraction(10) ** whole
        else:
            value = low + (high - low) * k / (count - 1)
        value = Fraction(round(value)) if integer else value
        if points[-1] < value < high:
            points.append(value)
    return [*points, high]


def _log10(value: Fraction) -> float:
    return (math.log2(value.numerator) - math.log2(value.denominator)) * math.log10(2)


def _round(value: Fraction, digits: int, up: bool) -> Fraction:
    if value == 0:
        return value
    power = digits - 1 - math.floor(_log10(abs(value)))
    scaled = value * Fraction(10) ** power
    whole = math.ceil(scaled) if up else math.floor(scaled)
    return Fraction(whole) / Fraction(10) ** power


def round_down(value: Fraction, digits: int = 13) -> Fraction:
    """The largest decimal of about `digits` significant digits that is at most `value`."""
    return _round(value, digits, up=False)


def round_up(value: Fraction, digits: int = 13) -> Fraction:
    """The smallest decimal of about `digits` significant digits that is at least `value`."""
    return _round(value, digits, up=True)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with least denominator in [low, high] (Stern-Brocot); low <= high is required."""
    if low > high:
        raise BadInput(f"no fraction lies between {low} and {high}.")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    whole = math.floor(low)
    if whole == low:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest_between(1 / (high - whole), 1 / (low - whole))


def format_exact(value: Fraction) -> str:
    """Text that `parse_number` reads back to the same value."""
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def format_short(value: Fraction | float | int, digits: int = 6) -> str:
    """For people: the exact form when it is short, otherwise about `digits` significant digits."""
    if isinstance(value, Fraction):
        exact = format_exact(value)
        if len(exact) <= 12:
            return exact
        if abs(value.numerator).bit_length() - value.denominator.bit_length() < -1000:
            return f"{'-' if value < 0 else ''}10^{_log10(abs(value)):.4g}"
        value = value.numerator / value.denominator
    return f"{value:.{digits}g}"
