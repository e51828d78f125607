"""Exact numbers and the small text grammar in which users write them.

The exact number type of boundcheck is `fractions.Fraction`. Text is parsed here by a regular
expression and integer arithmetic; it is never evaluated.

    number  :=  [sign] decimal [ "/" decimal ]
    decimal :=  ( digits [ "." [ digits ] ] | "." digits ) [ ("e" | "E") [sign] digits ]
    digits  :=  "0".."9", one or more; single underscores between them are allowed
"""

from __future__ import annotations

import math
import numbers
import re
import sys
from collections.abc import Iterable, Mapping, Set
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import Any

from boundcheck.errors import BadInput, shown

type_names = "an integer, a decimal such as 1e-3, or a ratio such as 1/3"
Number = int | float | str | Fraction

MAX_TEXT = 4000  # characters of one number
LONG_TEXT = 1_000_000  # characters of an exact number in a file of our own
MAX_DIGITS = 4300  # above and below the line of a number that a user types; Python prints no more at once
MAX_EXPONENT = 4000  # |power of ten|; larger ones would take the machine, not the user, by surprise

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
DECIMAL = rf"(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
_NUMBER = re.compile(rf"\s*([+-]?)({DECIMAL})(?:\s*/\s*({DECIMAL}))?\s*")

# Python refuses to convert integers of many digits from or to text (its limit can be set as low as 640 digits); flint,
# which is imported for these alone, does not.
_PLAIN_DIGITS = 600
_PLAIN_BITS = 1990
_MAX_BITS = int(MAX_DIGITS * math.log2(10))


def _integer(digits: str) -> int:
    if len(digits) <= _PLAIN_DIGITS:
        return int(digits)
    from flint import fmpz

    return int(fmpz(digits))


def _integer_text(value: int) -> str:
    if value.bit_length() <= _PLAIN_BITS:
        return str(value)
    from flint import fmpz

    return str(fmpz(value))


def _decimal(text: str, name: str) -> Fraction:
    mantissa, _, exponent = text.replace("_", "").lower().partition("e")
    power = _integer(exponent.lstrip("+-")) if exponent else 0
    if power > MAX_EXPONENT:
        raise BadInput(f"{name} = '{shown(text)}' has an exponent beyond {MAX_EXPONENT}, the largest allowed.")
    whole, _, part = mantissa.partition(".")
    value = Fraction(_integer((whole or "0") + part), 10 ** len(part))
    return value / 10**power if exponent.startswith("-") else value * 10**power


def parse_number(text: str, name: str = "number", *, max_text: int = MAX_TEXT) -> Fraction:
    """The exact value of `text`; `name` is the quantity named in the error.

    `max_text` is the most characters that are read; what a user types keeps the default, a file that
    boundcheck wrote itself may hold longer fractions.
    Raises BadInput for anything outside the grammar (so `9**9`, `sqrt(2)` and code are refused), for
    more than `max_text` characters, for exponents beyond 4000 and, unless `max_text` is larger, for fractions of more
    than 4300 digits above or below the line.
    """
    if len(text) > max_text:
        raise BadInput(f"{name} has {len(text)} characters; at most {max_text} are allowed.")
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise BadInput(f"{name} = '{shown(text)}' is not a number; write {type_names}.")
    sign, top, bottom = match.groups()
    value = _decimal(top, name)
    if bottom is not None:
        divisor = _decimal(bottom, name)
        if divisor == 0:
            raise BadInput(f"{name} = '{shown(text)}' divides by zero; write a ratio with a positive denominator.")
        value /= divisor
    if max_text <= MAX_TEXT and max(value.numerator, value.denominator).bit_length() > _MAX_BITS:
        raise BadInput(
            f"{name} = '{shown(text)}' is a fraction of more than {MAX_DIGITS} digits; write a shorter number."
        )
    return -value if sign == "-" else value


def as_fraction(value: Any, name: str = "number") -> Fraction:
    """The exact value of an int, float (its binary value), Fraction, SymPy Rational, NumPy scalar or text.

    Raises BadInput for NaN, infinities, booleans, reals that a float does not hold exactly (a SymPy
    Float of many digits) and anything else.
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
        if not math.isfinite(value):
            raise BadInput(f"{name} = {float(value)} is not finite; write {type_names}.")
        ratio = getattr(value, "as_integer_ratio", None)
        if ratio is not None:  # float and NumPy's floats, the long double included
            return Fraction(*ratio())
        as_float = float(value)
        if as_float != value:
            raise BadInput(f"{name} = {shown(value)} is no double-precision number; write it as text.")
        return Fraction(as_float)
    raise BadInput(f"{name} = {shown(value)} is not a number; write {type_names}.")


def as_double(value: Any, name: str) -> float:
    """The nearest double of what `as_fraction` takes; BadInput where it is beyond the largest."""
    exact = as_fraction(value, name)
    try:
        return exact.numerator / exact.denominator
    except OverflowError as error:
        text = f"{name}, {format_short(exact)}, is above the largest number in double precision, 1.8e308"
        raise BadInput(f"{text}, in which it is used; take a smaller one.") from error


def parse_grid(value: Any, name: str = "grid", *, integer: bool = False) -> list[Fraction]:
    """Exact points of a grid: a number, a list of numbers, or "log:low:high:count" / "lin:low:high:count".

    The inner points of a log grid are rounded to six significant digits, those of either grid to integers
    with `integer=True`; duplicates are dropped. The end points are exact (with `integer=True` the outermost
    integers between them). Raises BadInput (unknown form, count < 2 or > 10^6, low >= high, low <= 0 on a
    log grid, no integer in the range or a fraction in a list where integers are asked for).
    """
    value = value.tolist() if hasattr(value, "tolist") else value  # NumPy's arrays (0-d too) and scalars
    if isinstance(value, str) and ":" in value:
        pieces = [piece.strip() for piece in value.split(":")]
        if len(pieces) != 4 or pieces[0] not in ("log", "lin"):
            raise BadInput(f"{name} = '{shown(value)}' is not of the form log:low:high:count or lin:low:high:count.")
        low, high = (parse_number(p, name) for p in pieces[1:3])
        count = parse_number(pieces[3], f"the count of {name}")
        if count.denominator != 1 or not 2 <= count <= 10**6:
            asked = f"{name} = '{shown(value)}' asks for {shown(pieces[3])} points"
            raise BadInput(f"{asked}; an integer from 2 to 1000000 is allowed.")
        if low >= high or (pieces[0] == "log" and low <= 0):
            raise BadInput(f"{name} = '{shown(value)}' needs {'0 < ' if pieces[0] == 'log' else ''}low < high.")
        if integer:
            low, high = Fraction(math.ceil(low)), Fraction(math.floor(high))
            if low > high:
                raise BadInput(f"{name} = '{shown(value)}' contains no integer; only integers are allowed.")
        points = _spread(low, high, int(count), log=pieces[0] == "log", integer=integer)
    elif isinstance(value, Iterable) and not isinstance(value, str | Mapping | Set):
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
    if low == high:
        return [low]
    points = [low]
    log_low, log_high = (_log10(low), _log10(high)) if log else (0.0, 0.0)
    for k in range(1, count - 1):
        if log:
            share = k / (count - 1)
            exponent = (1 - share) * log_low + share * log_high
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


def _floor_log10(value: Fraction) -> int:
    """The exact integer e with 10^e <= value < 10^(e+1), for value > 0."""
    exponent = math.floor(_log10(value))
    while Fraction(10) ** exponent > value:
        exponent -= 1
    while Fraction(10) ** (exponent + 1) <= value:
        exponent += 1
    return exponent


def _round(value: Fraction, digits: int, *, up: bool) -> Fraction:
    if digits < 1:
        raise BadInput(f"rounding to {digits} significant digits is impossible; at least 1 is allowed.")
    if value == 0:
        return value
    unit = Fraction(10) ** (_floor_log10(abs(value)) + 1 - digits)
    scaled = value / unit
    return (math.ceil(scaled) if up else math.floor(scaled)) * unit


def round_down(value: Fraction, digits: int = 13) -> Fraction:
    """The largest decimal of `digits` significant digits that is at most `value` (towards minus infinity)."""
    return _round(value, digits, up=False)


def round_up(value: Fraction, digits: int = 13) -> Fraction:
    """The smallest decimal of `digits` significant digits that is at least `value` (towards plus infinity)."""
    return _round(value, digits, up=True)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction with least denominator in [low, high] (Stern-Brocot; of several, the one nearest to 0).

    Raises BadInput where low > high.
    """
    if low > high:
        raise BadInput(f"no fraction lies between {format_short(low)} and {format_short(high)}.")
    if low <= 0 <= high:
        return Fraction(0)
    if high < 0:
        return -simplest_between(-high, -low)
    # Common continued fraction of the two ends; a loop, since it may have thousands of terms.
    p, p_before, q, q_before = 1, 0, 0, 1
    while True:
        term = math.ceil(low)
        last = term <= high
        if not last:
            term -= 1
        p, p_before = term * p + p_before, p
        q, q_before = term * q + q_before, q
        if last:
            return Fraction(p, q)
        low, high = 1 / (high - term), 1 / (low - term)


def format_exact(value: Fraction) -> str:
    """Text of any length that `parse_number` reads back to the same value (beyond 4000 characters with `max_text`)."""
    top = _integer_text(value.numerator)
    return top if value.denominator == 1 else f"{top}/{_integer_text(value.denominator)}"


def format_short(value: Fraction | float | int, digits: int = 6) -> str:
    """For people: the exact form of an int or Fraction when it is short, otherwise `digits` significant digits."""
    if not isinstance(value, int | Fraction):
        return f"{value + 0.0:.{digits}g}"  # a negative zero becomes 0
    value = Fraction(value)
    if max(abs(value.numerator), value.denominator) < 10**12:
        exact = format_exact(value)
        if len(exact) <= 12:
            return exact
    exponent = _floor_log10(abs(value))
    if abs(exponent) < 300:
        return f"{value.numerator / value.denominator:.{digits}g}"
    mantissa = round(abs(value) / Fraction(10) ** (exponent + 1 - digits))
    if mantissa == 10**digits:  # rounded up to the next power of ten
        mantissa, exponent = mantissa // 10, exponent + 1
    text = str(mantissa).rstrip("0")
    point = f".{text[1:]}" if len(text) > 1 else ""
    return f"{'-' if value < 0 else ''}{text[0]}{point}e{exponent:+d}"


def format_apart(*values: Fraction | float | int, digits: int = 6) -> list[str]:
    """For people: numbers that one sentence compares, with the fewest digits at which different ones look different.

    Each is written as `format_short` does where `digits` significant digits are enough, otherwise rounded to more of
    them, at most 60; beyond, all but the last are written as the last and a difference, such as "1 + 2e-75".
    """
    different = len(set(values))
    for count in range(digits, 61):
        texts = [_rounded(v, count) for v in values]
        if len(set(texts)) == different:
            return [format_short(v, digits) for v in values] if count == digits else texts
    last = values[-1]
    apart = [Fraction(v) - Fraction(last) for v in values]
    signs = [f" {'-' if d < 0 else '+'} {format_short(abs(d), 3)}" if d else "" for d in apart]
    return [format_short(last, digits) + sign for sign in signs]


def _rounded(value: Fraction | float | int, digits: int) -> str:
    """The number rounded to the given number of significant digits, as an exact fraction."""
    if isinstance(value, float) and not math.isfinite(value):
        return format_short(value)
    number = Fraction(value)
    found = Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX).divide(
        Decimal(number.numerator), Decimal(number.denominator)
    )
    return f"{found.normalize(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):g}"


_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_DURATION = re.compile(r"\s*([0-9][0-9./]*)\s*(s|m|min|h|)\s*")


def parse_seconds(text: str, name: str) -> float:
    """A duration such as "60s", "10m", "1h" or a number of seconds; BadInput otherwise or where it is not positive."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise BadInput(f"{name} = '{text}' is no duration; write 60s, 10m or 1h.")
    seconds = float(parse_number(match[1], name) * _UNITS[match[2]])
    if not 0 < seconds < 1e7:
        raise BadInput(f"{name} = '{text}' is not allowed; more than 0 s and less than 10^7 s are.")
    return seconds


# --- roots, floats beside a number, ends of a ball --------------------------------------------------


def exact_root(value: Fraction, q: int = 2) -> Fraction | None:
    """The q-th root of a fraction that is at least 0, where it is rational."""
    top, bottom = _integer_root(value.numerator, q), _integer_root(value.denominator, q)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(value: int, q: int) -> int | None:
    if value <= 1 or q == 1:
        return value
    if q >= value.bit_length():
        return None
    if q == 2:
        root = math.isqrt(value)
    else:
        from flint import fmpz

        root = int(fmpz(value).root(q))
    return root if root**q == value else None


def root_below(value: Fraction, scale: int) -> Fraction:
    """The largest multiple of 1/scale that is at most the square root of a fraction that is at least 0."""
    return Fraction(math.isqrt(math.floor(value * scale**2)), scale)


def root_from_above(value: Fraction) -> Fraction:
    """The square root where it is rational, else from above to a relative 2^-60 or better."""
    exact = exact_root(value)
    if exact is not None:
        return exact
    scale = 2 ** max(0, 64 + (value.denominator.bit_length() - value.numerator.bit_length()) // 2)
    return Fraction(math.isqrt(math.ceil(value * scale**2)) + 1, scale)


def nearest_float(value: Fraction) -> float:
    """The nearest double; infinity where it overflows."""
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def float_below(value: Fraction) -> float:
    """The largest double that is at most the value (minus infinity below all of them)."""
    near = nearest_float(value)
    if math.isinf(near):
        return sys.float_info.max if near > 0 else near
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """The smallest double that is at least the value (infinity above all of them)."""
    return -float_below(-value)


def next_up(value: float, count: int = 1) -> float:
    """The double that is `count` doubles above this one."""
    for _ in range(count):
        value = math.nextafter(value, math.inf)
    return value


def next_down(value: float, count: int = 1) -> float:
    """The double that is `count` doubles below this one."""
    return -next_up(-value, count)


def dyadic(point: Any) -> Fraction:
    """The value of a `flint.arb` without radius."""
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def ball_ends(ball: Any) -> tuple[Fraction, Fraction]:
    """The two ends of a finite `flint.arb`, rounded outwards at the working precision."""
    return dyadic(ball.lower()), dyadic(ball.upper())
