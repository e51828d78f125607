"""Certificates are checked without the search that found them; a changed one fails."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.proof.certificate import Products, find_products

x, y, A, b = (sp.Symbol(n, real=True) for n in ["x", "y", "A", "b"])
F = Fraction

# b/(2b+1)-type step: 3 - 3A... 1 - 2A b - A >= 0 and b >= 1 give 1 - 3A >= 0
FACTS = [(sp.expand(1 - A * (2 * b + 1)), ">=", "A"), (b - 1, ">=", "b"), (A, ">", "positive")]
GOAL = sp.expand(1 - 3 * A)


def found() -> Products:
    certificate = find_products(GOAL, False, FACTS)
    assert certificate is not None
    return certificate


def test_the_combination_is_the_one_found_by_hand():
    by_hand = Products(GOAL, False, tuple(FACTS), ((F(1), (0,)), (F(2), (1, 2))))  # g1 + 2 A (b - 1)
    assert by_hand.verify()
    assert sorted(c for c, _ in found().terms) == [1, 2]
    assert found().verify([(f, op) for f, op, _ in FACTS])


@pytest.mark.parametrize("change", [F(1, 1000), F(-1, 10**12), F(1)])
def test_a_tampered_coefficient_fails(change):
    good = found()
    for k, (c, indices) in enumerate(good.terms):
        terms = list(good.terms)
        terms[k] = (c + change, indices)
        assert not replace(good, terms=tuple(terms)).verify()


def test_a_negative_coefficient_fails_even_where_the_identity_holds():
    wrong = Products(-x, False, ((x, ">=", ""),), ((F(-1), (0,)),))
    assert not wrong.verify()
    assert replace(wrong, factors=((x, "==", ""),)).verify()


def test_a_factor_that_is_no_hypothesis_fails():
    assert found().verify()
    assert not found().verify([(f, op) for f, op, _ in FACTS[:2]])


def test_a_strict_goal_needs_a_strict_term():
    weak = Products(x, True, ((x, ">=", ""),), ((F(1), (0,)),))
    assert not weak.verify()
    assert replace(weak, factors=((x, ">", ""),)).verify()
    assert find_products(x + y, True, [(x, ">=", ""), (y, ">=", "")]) is None
    strict = find_products(x + y, True, [(x, ">", ""), (y, ">=", "")])
    assert strict is not None
    assert strict.verify()


def test_a_false_goal_has_no_certificate():
    assert find_products(sp.expand(1 - 4 * A), False, FACTS) is None


def test_equations_may_have_any_sign():
    certificate = find_products(sp.expand(x**2 - 1), False, [(x - 1 - y, "==", "x"), (y, ">=", "y")])
    assert certificate is not None
    assert certificate.verify()
