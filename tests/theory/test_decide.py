"""Signs and enclosures: exact edges, near misses, huge powers, what stays undecided."""

from __future__ import annotations

import contextlib
import math
import random
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.theory.balls import as_ball, ends
from boundcheck.theory.decide import Point, Undefined, enclose, sign

x, y, z, k, a, b = sp.symbols("x y z k a b", real=True)
TINY = Fraction(1, 10**40)


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (sp.sqrt(x) - y, {"x": "9/4", "y": "3/2"}, 0),
        (sp.sqrt(x) - y, {"x": 2, "y": Fraction(14142135623730950488, 10**19)}, 1),
        (sp.sqrt(x) - y, {"x": 2, "y": Fraction(14142135623730950489, 10**19)}, -1),
        (x ** sp.Rational(2, 3) - y, {"x": "8/27", "y": "4/9"}, 0),
        (sp.Min(x, sp.sqrt(y)) - x, {"x": 2, "y": 4}, 0),
        (sp.Max(x, sp.sqrt(y)) - sp.Abs(z), {"x": 1, "y": 2, "z": -1}, 1),
        (sp.floor(x) + sp.ceiling(x) - y, {"x": "-3/2", "y": -3}, 0),
        (sp.ceiling(x) - y, {"x": 4, "y": 4}, 0),
        (sp.floor(sp.sqrt(x)) - y, {"x": 8, "y": 2}, 0),
        (sp.floor(sp.sqrt(x)) - y, {"x": 49, "y": 7}, 0),
        (sp.log(x) - y, {"x": 1, "y": 0}, 0),
        (sp.exp(x) - y, {"x": 0, "y": 1}, 0),
        (sp.exp(x) - y, {"x": 1, "y": "2.718281828459045"}, 1),
        (x**k - y, {"x": "1/4", "k": "3/2", "y": "1/8"}, 0),
        (x**k - y, {"x": "1/4", "k": "-1/2", "y": 2}, 0),
        ((1 - x) ** k, {"x": 1, "k": 0}, 1),
        (x * sp.exp(y), {"x": 0, "y": 1}, 0),
        (x**k + y, {"x": -1, "k": 10**9 + 1, "y": 1}, 0),
        ((1 - x) ** sp.sqrt(k), {"x": 1, "k": 3}, 0),  # 0^sqrt(3) = 0
        ((1 - x) ** sp.sqrt(k) + 1 - y, {"x": 1, "k": 3, "y": 1}, 0),
        ((x - 1) ** (sp.sqrt(k) - sp.sqrt(y) * sp.sqrt(z)) - 1, {"x": 1, "k": 6, "y": 2, "z": 3}, 0),  # 0^0 = 1
    ],
)
def test_sign(expr: sp.Expr, values: dict, expected: int) -> None:
    assert sign(expr, values) == expected


@pytest.mark.parametrize("offset", [Fraction(0), TINY, -TINY])
def test_irrational_values_that_are_equal_or_differ_by_1e_40(offset: Fraction) -> None:
    # sqrt(2) + sqrt(3) = sqrt(5 + 2 sqrt 6), and nested: sqrt(7 + 4 sqrt 3) = 2 + sqrt 3
    expected = (offset > 0) - (offset < 0)
    assert (
        sign(sp.sqrt(x) + sp.sqrt(y) - sp.sqrt(5 + 2 * sp.sqrt(z)) + k, {"x": 2, "y": 3, "z": 6, "k": offset})
        == expected
    )
    assert sign(sp.sqrt(7 + 4 * sp.sqrt(x)) - y - sp.sqrt(x) + k, {"x": 3, "y": 2, "k": offset}) == expected


def test_sums_of_square_roots_against_integer_arithmetic() -> None:
    """sqrt a + sqrt b < sqrt c decided by squaring twice in integers."""
    rng = random.Random(7)
    for _ in range(200):
        a, b = rng.randint(1, 400), rng.randint(1, 400)
        c = a + b + math.isqrt(4 * a * b) + rng.randint(-1, 1)
        # sign of (sqrt a + sqrt b)^2 - c = 2 sqrt(ab) - (c - a - b)
        rest = c - a - b
        expected = 1 if rest < 0 else (4 * a * b > rest**2) - (4 * a * b < rest**2)
        assert sign(sp.sqrt(x) + sp.sqrt(y) - sp.sqrt(z), {"x": a, "y": b, "z": c}) == expected


N = 10**40  # n(n + 3) = (n + 1)(n + 2) - 2: products of roots that differ by about 1e-40, quotients by 1e-80
NEXT = {"x": N, "y": N + 3, "z": N + 1, "k": N + 2}


@pytest.mark.parametrize(
    ("expr", "values", "expected"),
    [
        (sp.sqrt(x) * sp.sqrt(y) - sp.sqrt(z) * sp.sqrt(k), NEXT, -1),
        (sp.sqrt(x) / sp.sqrt(z) - sp.sqrt(k) / sp.sqrt(y), NEXT, -1),
        (sp.sqrt(z) / sp.sqrt(x) - sp.sqrt(y) / sp.sqrt(k), NEXT, 1),
        (a * b + sp.sqrt(x) * sp.sqrt(y) - sp.sqrt(z) * sp.sqrt(k), {**NEXT, "a": 0, "b": 2}, -1),
        (sp.sqrt(x) * sp.sqrt(y) - sp.sqrt(z) * sp.sqrt(k) + sp.sqrt(a) - sp.sqrt(b), {**NEXT, "a": 2, "b": 2}, -1),
        (x ** sp.Rational(3, 2) - sp.sqrt(y), {"x": N, "y": N**3 + 1}, -1),
        (x ** sp.Rational(-3, 2) - 1 / sp.sqrt(y), {"x": N, "y": N**3 + 1}, 1),
        (x**a - y**b, {"x": N + 1, "y": (N + 1) ** 3 - 1, "a": "3/2", "b": "1/2"}, 1),
        (x**a - y**b, {"x": N + 1, "y": (N + 1) ** 3 - 1, "a": "-3/2", "b": "-1/2"}, -1),
        ((sp.sqrt(x) + 1) ** 2 - y - 2 * sp.sqrt(x), {"x": N + 1, "y": N + 2 + TINY}, -1),
        (sp.sqrt(sp.sqrt(x) * y) - sp.sqrt(sp.sqrt(z) * k), {"x": 4 * N, "y": 1, "z": N + 1, "k": 2}, -1),
        (sp.Abs(sp.sqrt(x) - y) - z, {"x": N**2 + 1, "y": N, "z": Fraction(1, 2 * N)}, -1),  # 1/(2n) - 1/(8n^3)
    ],
)
def test_what_is_tiny_beside_its_parts_is_not_zero(expr: sp.Expr, values: dict, expected: int) -> None:
    """Signs by integer arithmetic; a separation bound that is too short would take these values for 0."""
    assert sign(expr, values) == expected
    assert sign(-expr, values) == -expected


def test_a_billion_cycles_go_through_balls() -> None:
    point = Point((1 - x) ** k * y + z, {"x": "1/1000000000", "k": 10**9, "y": 1, "z": 1})
    assert point.exact() is None
    assert point.too_large
    low, high = point.enclose(100)
    with localcontext(Context(prec=60)):
        value = 1 + ((1 - Decimal("1e-9")).ln() * 10**9).exp()  # to about 49 digits
    assert low - Fraction(1, 10**45) <= Fraction(value) <= high + Fraction(1, 10**45)
    assert high - low < Fraction(1, 2**95)
    assert sign((1 - x) ** k, {"x": "1/3", "k": 10**9}) == 1
    assert sign((x - 1) ** k, {"x": "1/3", "k": 10**9 + 1}) == -1


def test_powers_within_the_stated_digits_stay_exact() -> None:
    point = Point((1 - x) ** k, {"x": "1/3", "k": 1000})
    assert point.exact() == Fraction(2, 3) ** 1000
    assert not point.too_large


def test_transcendental_equality_is_left_undecided() -> None:
    # exp(log-like identities) that balls cannot separate: log 4 = 2 log 2
    assert sign(sp.log(x) - 2 * sp.log(y), {"x": 4, "y": 2}) is None
    assert sign(sp.log(x) - 2 * sp.log(y) + z, {"x": 4, "y": 2, "z": TINY}) == 1


@pytest.mark.parametrize(
    ("expr", "values"),
    [
        (1 / (x - y), {"x": 1, "y": 1}),
        (1 / (sp.sqrt(x) - y), {"x": 4, "y": 2}),
        (sp.sqrt(x), {"x": -1}),
        (sp.sqrt(sp.sqrt(x) - y), {"x": 2, "y": "1.5"}),
        (sp.log(x), {"x": 0}),
        (x**k, {"x": 0, "k": -1}),
        (x ** (y - sp.sqrt(k)), {"x": 0, "y": 1, "k": 3}),  # 0^(1 - sqrt 3)
        (x ** sp.sqrt(k), {"x": -1, "k": 3}),
        (x**k, {"x": -2, "k": "1/2"}),
        (y * sp.log(x), {"x": 0, "y": 0}),
        (x**k, {"x": 0, "k": "-1/2"}),
        (1 / (x**k), {"x": 0, "k": 2}),
    ],
)
def test_undefined_values_are_refused(expr: sp.Expr, values: dict) -> None:
    with pytest.raises(Undefined):
        sign(expr, values)
    with pytest.raises(Undefined):
        enclose(expr, values)
    with contextlib.suppress(Undefined):
        assert Point(expr, values).exact() is None


def test_an_irrational_denominator_is_zero_or_only_small() -> None:
    zero = sp.sqrt(x) + sp.sqrt(y) - sp.sqrt(5 + 2 * sp.sqrt(z))  # sqrt(2) + sqrt(3) = sqrt(5 + 2 sqrt(6))
    with pytest.raises(Undefined):
        sign(1 / zero, {"x": 2, "y": 3, "z": 6})
    assert sign(1 / (zero - k), {"x": 2, "y": 3, "z": 6, "k": TINY}) == -1
    low, high = enclose(1 / (zero - k), {"x": 2, "y": 3, "z": 6, "k": TINY})
    assert low <= -1 / TINY <= high < low * (1 - Fraction(1, 10**30))


def test_the_same_power_in_two_forms_stays_undecided_where_the_exponent_is_irrational() -> None:
    assert sign(x ** sp.sqrt(y) - z ** (sp.sqrt(y) / 2), {"x": 2, "y": 2, "z": 4}) is None
    assert sign(x ** sp.sqrt(y) - z ** (sp.sqrt(y) / 2), {"x": 2, "y": 2, "z": "4.000001"}) == -1
    low, high = enclose(x * sp.exp(y), {"x": -1, "y": 1})
    assert float(low) == float(high) == -math.e


def test_enclosures_hold_the_value_and_are_narrow() -> None:
    low, high = enclose(sp.sqrt(x) / 3, {"x": 2}, bits=200)
    assert low < high
    assert low**2 <= Fraction(2, 9) <= high**2
    assert (high - low) / low < Fraction(1, 2**199)
    assert enclose(x / 3, {"x": 2}) == (Fraction(2, 3), Fraction(2, 3))
    assert enclose((1 - x) ** k, {"x": 1, "k": 0}) == (1, 1)  # 0^0
    assert enclose((1 - x) ** k, {"x": 1, "k": 2}) == (0, 0)
    # heavy cancellation still gives relative bits
    low, high = enclose(sp.sqrt(x + 1) - sp.sqrt(x), {"x": 10**60}, bits=64)
    assert Fraction(49, 100) < low * 10**30 <= high * 10**30 < Fraction(51, 100)
    assert (high - low) / low < Fraction(1, 2**63)


def test_ends_of_balls_are_on_the_outside_beyond_any_double() -> None:
    far = Fraction(2) ** 140_000
    for ball, bits, expected in (
        (as_ball(Fraction(0)), 64, (0, 0)),
        (as_ball(Fraction(5, 8)), 64, (Fraction(5, 8), Fraction(5, 8))),
        (as_ball(far), 64, (None, None)),
        (as_ball(-far), 64, (None, None)),
        (as_ball(1 / far), 64, (0, Fraction(1, 2**131072))),
        (as_ball(-1 / far), 64, (-Fraction(1, 2**131072), 0)),
    ):
        assert ends(ball, bits) == expected
    low, high = ends(as_ball(Fraction(1, 3)), 20)
    assert low is not None
    assert high is not None
    assert low < Fraction(1, 3) < high


def test_a_missing_symbol_and_an_unknown_function_are_named() -> None:
    with pytest.raises(BadInput, match="y"):
        sign(x + y, {"x": 1})
    with pytest.raises(BadInput, match="sin"):
        sign(sp.sin(x), {"x": 1})


def test_moving_one_symbol_keeps_the_rest() -> None:
    point = Point(sp.Min(x**k, y) - z, {"x": "1/2", "k": 1, "y": "1/3", "z": "1/4"})
    found = []
    for exponent in (1, 2, 3):
        point.move("k", Fraction(exponent))
        found.append(point.exact())
    assert found == [Fraction(1, 12), Fraction(0), Fraction(-1, 8)]
