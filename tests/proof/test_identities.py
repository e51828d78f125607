"""Identity of expressions: told apart by one point, and never where they are the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp

from boundcheck.proof.exact import holds, value_somewhere
from boundcheck.proof.identity import same
from boundcheck.proof.polynomial import factorised, rational_parts
from boundcheck.proof.vectors import Inner

x, y, k, t = sp.symbols("x y k t", real=True)
f = sp.Function("f", real=True)
i = sp.Symbol("i", integer=True)

ALIKE: list[tuple[Any, Any]] = [
    ((x + y) ** 2 / (x - y), (x**2 + 2 * x * y + y**2) / (x - y)),
    (1 / x - 1 / y, (y - x) / (x * y)),
    (Inner(x, y) * (1 + t) - Inner(x, y), t * Inner(y, x)),
    (f(t * (t + 1)) + x, x + f(t**2 + t)),
    ((1 + sp.sqrt(x)) ** 2, 1 + 2 * sp.sqrt(x) + x),
    (x ** (k + 1), x * x**k),
    (y * sp.Sum(f(i), (i, 1, 3)), sp.Sum(f(i), (i, 1, 3)) * y),
    (x**100 * (x + 1), x**101 + x**100),
]


# numbers of the pairs whose two sides both have a value at the fixed point: no roots, symbolic exponents, high powers
VALUED = {0, 1, 2, 6}


@pytest.mark.parametrize(("number", "first", "second"), [(k, *pair) for k, pair in enumerate(ALIKE)])
def test_what_is_identical_is_the_same(number: int, first: Any, second: Any) -> None:
    assert same(first, second)
    values = [value_somewhere(first), value_somewhere(second)]
    assert (None not in values) is (number in VALUED)
    if number in VALUED:
        assert values[0] == values[1]


def test_what_differs_is_not_the_same() -> None:
    every = [first for first, _ in ALIKE]
    for (m, first), (n, second) in product(enumerate(every), repeat=2):
        assert same(first, second) is (m == n)
        assert same(first, second) is bool(rational_parts(first - second)[0] == 0)


def test_an_expression_without_a_rational_value_has_none() -> None:
    assert value_somewhere(sp.Rational(2, 3)) == Fraction(2, 3)
    for none in (sp.sqrt(x), 1 + f(t * (t + 1)), x**k, sp.Min(x, y), x**100, sp.zoo):
        assert value_somewhere(none) is None


def test_what_is_remembered_is_not_shared() -> None:
    factors = factorised(x**2 - y**2)[1]
    factors.clear()
    assert len(factorised(x**2 - y**2)[1]) == 2


def test_relations_that_are_decided_already() -> None:
    assert holds(sp.true, {}) is holds(sp.Or(sp.true, x > 0), {}) is True
    assert holds(sp.false, {}) is holds(sp.And(x > 0, sp.false), {}) is False
    assert holds(sp.And(x > 0, y > 0), {"x": Fraction(1)}) is None
    assert holds(sp.And(x > 0, y > 0), {"x": Fraction(-1)}) is False
