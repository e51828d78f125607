"""Exact numbers and their text grammar."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.core.numbers import (
    as_fraction,
    format_exact,
    format_short,
    parse_grid,
    parse_number,
    root_from_above,
    round_down,
    round_up,
    simplest_between,
)
from boundcheck.errors import BadInput

wide = st.builds(
    lambda top, bottom, power: Fraction(top, bottom) * Fraction(10) ** power,
    st.integers(-(10**20), 10**20),
    st.integers(1, 10**20),
    st.integers(-400, 400),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("-3", Fraction(-3)),
        ("+0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("1E3", Fraction(1000)),
        ("2.5e+1", Fraction(25)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1/3", Fraction(1, 3)),
        (" 1.5 / 2e-1 ", Fraction(15, 2)),
        ("1_000_000", Fraction(10**6)),
        ("0.000_001", Fraction(1, 10**6)),
        ("1e0000003", Fraction(1000)),
        ("1e4000", Fraction(10) ** 4000),
        ("-1e-4000", -1 / Fraction(10) ** 4000),
    ],
)
def test_parse_number_is_exact(text: str, value: Fraction) -> None:
    assert parse_number(text) == value


OUTSIDE = [
    *("", " ", "x", "9**9**9**9", "__import__('os').system('x')", "sqrt(2)", "1/2/3", "1/-2", "--1", "1__0", "_1"),
    *("1_", "1e", ".", "0x10", "nan", "inf", "1 2", "٣", "1,5", "1;2"),
]
REFUSED: list[tuple[Callable[[], object], str]] = [
    *((partial(parse_number, text, "mu"), r"^mu = .*") for text in OUTSIDE),
    (lambda: parse_number("1/0", "mu"), r"^mu = '1/0' divides by zero"),
    *(
        (partial(parse_number, text, "mu"), r"^mu = .*exponent beyond 4000")
        for text in ("1e4001", "1e-4001", "1e" + "9" * 900, "1/1e4001")
    ),
    (lambda: parse_number("1" * 4001, "mu"), r"^mu has 4001 characters; at most 4000 are allowed\.$"),
    (lambda: parse_number("z" * 4000, "mu"), "^mu = "),
    *(
        (partial(as_fraction, value, "eta"), r"^eta = ")
        for value in (
            *(math.nan, math.inf, -math.inf, np.float32("nan"), True, np.True_, None, 1j, b"1", [1], object()),
            *(sympy.nan, sympy.oo, sympy.Float("0.1", 40), sympy.sqrt(2), np.arange(10000.0).reshape(100, 100)),
        )
    ),
    *(
        (partial(parse_grid, value, "K"), "K")
        for value in (
            *("log:1:10", "log:1:10:3:4", "log:0:1:5", "log:-1:1:5", "log:a:1:5", "sqrt:1:2:3"),
            *("lin:2:1:5", "lin:1:1:5", "lin:0:1:1", "lin:0:1:2.5", "lin:0:1:1000001"),
            *([], {"a": 1}, {1, 2}, np.ones((2, 2)), [True], None, [[1]]),
        )
    ),
    (lambda: parse_grid("lin:1/4:3/4:5", "K", integer=True), "contains no integer"),
    (lambda: parse_grid(["1/2"], "K", integer=True), r"^K holds 1/2; only integers are allowed\.$"),
    (lambda: round_up(Fraction(1, 3), 0), "at least 1"),
    (lambda: simplest_between(Fraction(2), Fraction(1)), "no fraction lies between 2 and 1"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_refused_is_said_on_one_short_line(call: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        call()
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_longest_texts_parse_and_print() -> None:
    for digits in ("7" * 4000, "-" + "7" * 3999, "1" + "0" * 1199 + "1", "9" * 601):
        value = Fraction(int(digits[: len(digits) // 2]) * 10 ** (len(digits) - len(digits) // 2))
        value += int(digits[len(digits) // 2 :]) * (-1 if digits[0] == "-" else 1)
        assert parse_number(digits) == value
        assert format_exact(value) == digits
    assert parse_number("0." + "0" * 3997 + "1") == 1 / Fraction(10) ** 3998
    huge = Fraction(10**20000 + 7, 3)
    text = format_exact(huge)
    assert text == "1" + "0" * 19999 + "7/3"
    with pytest.raises(BadInput):
        parse_number(text)
    assert parse_number(text, max_text=len(text)) == huge


@settings(deadline=None, max_examples=50)
@given(wide)
def test_exact_text_round_trips(value: Fraction) -> None:
    assert parse_number(format_exact(value)) == value


@settings(deadline=None, max_examples=50)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_float_means_its_binary_value(value: float) -> None:
    assert as_fraction(value) == Fraction(value)
    assert as_fraction(np.float64(value)) == Fraction(value)
    assert float(parse_number(repr(value))) == value


def test_as_fraction_of_other_types() -> None:
    assert as_fraction(np.int64(-3)) == -3
    assert as_fraction(np.float32(0.1)) == Fraction(13421773, 2**27)
    assert as_fraction(sympy.Rational(2, 6)) == Fraction(1, 3)
    assert as_fraction(sympy.Integer(4)) == 4
    assert as_fraction(sympy.Float(0.5)) == Fraction(1, 2)
    assert as_fraction(np.longdouble(1) / 4) == Fraction(1, 4)
    third = np.longdouble(1) / 3
    assert as_fraction(third) == Fraction(*third.as_integer_ratio())


def test_grids_by_hand() -> None:
    assert parse_grid("log:1:1000:4") == [1, 10, 100, 1000]
    assert parse_grid("log:1e-6:1e-2:3") == [Fraction(1, 10**6), Fraction(1, 10**4), Fraction(1, 100)]
    assert parse_grid(" lin : 0 : 1 : 4 ") == [0, Fraction(1, 3), Fraction(2, 3), 1]
    assert parse_grid("log:1:10:30", integer=True) == list(range(1, 11))
    assert parse_grid("lin:0.5:3.5:7", integer=True) == [1, 2, 3]
    assert parse_grid("lin:1/2:3/2:5", integer=True) == [1]
    assert parse_grid("log:1/3:7:2") == [Fraction(1, 3), 7]
    assert parse_grid("1/3") == [Fraction(1, 3)]
    assert parse_grid([3, "1/2", 0.5]) == [3, Fraction(1, 2), Fraction(1, 2)]
    assert parse_grid(np.array([1.0, 2.0])) == [1, 2]
    assert parse_grid(np.array(3)) == [3]
    assert parse_grid(range(3)) == [0, 1, 2]


@settings(deadline=None, max_examples=50)
@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.integers(2, 60),
    st.sampled_from(["log", "lin"]),
)
def test_grids_increase_and_keep_their_ends(a: Fraction, b: Fraction, count: int, form: str) -> None:
    low, high = min(a, b), max(a, b) + 1
    points = parse_grid(f"{form}:{low}:{high}:{count}")
    assert points[0] == low
    assert points[-1] == high
    assert len(points) <= count
    assert all(p < q for p, q in pairwise(points))
    whole = parse_grid(f"{form}:{low}:{high}:{count}", integer=True)
    assert all(p.denominator == 1 and low <= p <= high for p in whole)
    assert all(p < q for p, q in pairwise(whole))


def test_log_grid_points_have_even_spacing() -> None:
    points = [float(p) for p in parse_grid("log:1e-300:1e300:601")]
    steps = np.diff(np.log10(points[1:-1]))
    np.testing.assert_allclose(steps, 1.0, atol=1e-5)


@settings(deadline=None, max_examples=50)
@given(wide, st.integers(1, 20))
def test_rounding_is_safe_close_and_short(value: Fraction, digits: int) -> None:
    low, high = round_down(value, digits), round_up(value, digits)
    assert low <= value <= high
    unit = abs(value) / 10 ** (digits - 1)
    assert value - low <= unit
    assert high - value <= unit
    for rounded in (low, high):
        mantissa = abs(rounded)
        while mantissa and mantissa.denominator == 1 and mantissa.numerator % 10 == 0:
            mantissa /= 10
        while mantissa.denominator != 1:
            mantissa *= 10
        assert mantissa < 10**digits
        assert round_down(rounded, digits) == rounded == round_up(rounded, digits)


def test_rounding_by_hand() -> None:
    assert round_down(Fraction(1, 3), 3) == Fraction(333, 1000)
    assert round_up(Fraction(1, 3), 3) == Fraction(334, 1000)
    assert round_down(Fraction(-1, 3), 3) == Fraction(-334, 1000)
    assert round_up(Fraction(-1, 3), 3) == Fraction(-333, 1000)
    assert round_up(Fraction("99.96"), 3) == 100
    assert round_down(Fraction(1000), 2) == 1000  # log10(1000) is 2.999... in floats
    assert round_down(Fraction(10) ** 4000 - 1, 1) == 9 * Fraction(10) ** 3999


@settings(deadline=None, max_examples=50)
@given(
    st.fractions(min_value=-50, max_value=50, max_denominator=60),
    st.fractions(min_value=-50, max_value=50, max_denominator=60),
)
def test_simplest_fraction_against_a_search(a: Fraction, b: Fraction) -> None:
    low, high = min(a, b), max(a, b)
    found = simplest_between(low, high)
    assert low <= found <= high
    denominator = next(q for q in range(1, 61) if math.ceil(low * q) <= high * q)
    assert found.denominator == denominator
    candidates = [
        Fraction(p, denominator) for p in range(math.ceil(low * denominator), math.floor(high * denominator) + 1)
    ]
    assert abs(found) == min(abs(c) for c in candidates)


def test_roots_from_above() -> None:
    assert root_from_above(Fraction(9, 4)) == Fraction(3, 2)
    assert 0 < root_from_above(Fraction(2)) ** 2 - 2 < Fraction(1, 10**17)


def test_simplest_fraction_with_thousands_of_terms() -> None:
    a, b = 1, 1
    for _ in range(15000):
        a, b = a + b, a
    golden = Fraction(a, b)
    assert simplest_between(golden, golden) == golden


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(-7), "-7"),
        (0, "0"),
        (1234567, "1234567"),
        (Fraction(123456, 1234567), "0.0999994"),
        (10**400, "1e+400"),
        (-(10**400), "-1e+400"),
        (Fraction(10**400, 3), "3.33333e+399"),
        (Fraction(-1, 7 * 10**400), "-1.42857e-401"),
        (Fraction(10) ** 5000 - 1, "1e+5000"),
        (Fraction(10) ** -5000, "1e-5000"),
        (Fraction(123456789 * 10**500), "1.23457e+508"),
        (Fraction(2, 3) * Fraction(10) ** -308, "6.66667e-309"),
        (0.1, "0.1"),
        (1 / 3, "0.333333"),
        (math.inf, "inf"),
        (1e300, "1e+300"),
    ],
)
def test_short_text(value: Fraction | float | int, text: str) -> None:
    assert format_short(value) == text


@settings(deadline=None, max_examples=50)
@given(wide)
def test_short_text_reads_back_close(value: Fraction) -> None:
    text = format_short(value)
    assert len(text) <= 14
    assert abs(parse_number(text) - value) <= abs(value) * Fraction(51, 10**7)
