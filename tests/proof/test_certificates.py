"""Certificates are checked without the search that found them; a changed one fails."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.proof.find.products import Products, find_products

x, y, A, b = (sp.Symbol(n, real=True) for n in ["x", "y", "A", "b"])
F = Fraction

# b/(2b+1)-type step: 3 - 3A... 1 - 2A b - A >= 0 and b >= 1 give 1 - 3A >= 0
FACTS = [(sp.expand(1 - A * (2 * b + 1)), ">=", "A"), (b - 1, ">=", "b"), (A, ">", "positive")]
GOAL = sp.expand(1 - 3 * A)


HYPOTHESES = [(f, op) for f, op, _ in FACTS]


def found() -> Products:
    certificate = find_products(GOAL, False, FACTS)
    assert certificate is not None
    return certificate


def stands(certificate: Products, goal=GOAL, strict=False, hypotheses=HYPOTHESES) -> bool:
    return certificate.verify(goal, strict, hypotheses)


def test_the_combination_is_the_one_found_by_hand():
    by_hand = Products(GOAL, False, tuple(FACTS), ((F(1), (0,)), (F(2), (1, 2))))  # g1 + 2 A (b - 1)
    assert stands(by_hand)
    assert sorted(c for c, _ in found().terms) == [1, 2]
    assert stands(found())


@pytest.mark.parametrize("change", [F(1, 1000), F(-1, 10**12), F(1)])
def test_a_tampered_coefficient_fails(change):
    good = found()
    for k, (c, indices) in enumerate(good.terms):
        terms = list(good.terms)
        terms[k] = (c + change, indices)
        assert not stands(replace(good, terms=tuple(terms)))


def altered() -> dict[str, Products]:
    """Certificates of other things, or of nothing, that are given out as one of GOAL >= 0."""
    good = found()
    (c, indices), *others = good.terms
    goal, more = (GOAL, ">=", "A"), sp.expand(GOAL - A)
    return {
        "another coefficient": replace(good, terms=((c + 1, indices), *others)),
        "a negative coefficient": replace(good, terms=((-c, indices), *others)),
        "a term less": replace(good, terms=tuple(others)),
        "the goal as a factor": Products(GOAL, False, (goal,), ((F(1), (0,)),)),
        "a stronger factor": Products(GOAL, False, ((more, ">=", "A"), FACTS[2]), ((F(1), (0,)), (F(1), (1,)))),
        "an equation": replace(good, factors=tuple((f, "==", origin) for f, _, origin in good.factors)),
        "an equation of any sign": Products(GOAL, False, ((-GOAL, "==", "A"),), ((F(-1), (0,)),)),
        "strict factors": replace(good, factors=tuple((f, ">", origin) for f, _, origin in good.factors)),
        "an unknown relation": replace(good, factors=tuple((f, "!=", origin) for f, _, origin in good.factors)),
        "any polynomial": Products(GOAL, False, ((GOAL, "any", ""), (A, "==", "")), ((F(1), (0,)),)),
        "a goal of its own": replace(good, goal=sp.expand(2 * GOAL), terms=tuple((2 * c, i) for c, i in good.terms)),
        "a strict goal": replace(good, strict=True),
        "a factor that is not there": replace(good, terms=((c, (len(good.factors),)), *others)),
        "a factor from behind": replace(good, terms=tuple((c, tuple(i - len(good.factors) for i in t))
                                                          for c, t in good.terms)),
        "a rounded coefficient": replace(good, terms=tuple((float(c), i) for c, i in good.terms)),
        "nothing": replace(good, factors=(), terms=()),
    }  # fmt: skip


@pytest.mark.parametrize("name", altered())
def test_an_altered_certificate_fails(name):
    assert not stands(altered()[name])


def test_a_hypothesis_that_is_no_sign_lends_none():
    assert not Products(x, False, ((x, "!=", ""),), ((F(1), (0,)),)).verify(x, False, [(x, "!=")])


def test_a_certificate_is_of_one_question():
    assert not stands(found(), goal=sp.expand(1 - 4 * A))
    assert not stands(found(), strict=True)
    assert not stands(found(), hypotheses=HYPOTHESES[:2])
    assert not stands(found(), hypotheses=[(f, ">=") for f, _ in HYPOTHESES])


def test_a_negative_coefficient_fails_even_where_the_identity_holds():
    wrong = Products(-x, False, ((x, ">=", ""),), ((F(-1), (0,)),))
    assert not wrong.verify(-x, False, [(x, ">=")])
    assert replace(wrong, factors=((x, "==", ""),)).verify(-x, False, [(x, "==")])


def test_a_strict_goal_needs_a_strict_term():
    weak = Products(x, True, ((x, ">=", ""),), ((F(1), (0,)),))
    assert not weak.verify(x, True, [(x, ">=")])
    assert replace(weak, factors=((x, ">", ""),)).verify(x, True, [(x, ">")])
    assert find_products(x + y, True, [(x, ">=", ""), (y, ">=", "")]) is None
    strict = find_products(x + y, True, [(x, ">", ""), (y, ">=", "")])
    assert strict is not None
    assert strict.verify(x + y, True, [(x, ">"), (y, ">=")])


def test_a_false_goal_has_no_certificate():
    assert find_products(sp.expand(1 - 4 * A), False, FACTS) is None


def test_equations_may_have_any_sign():
    goal, facts = sp.expand(x**2 - 1), [(x - 1 - y, "==", "x"), (y, ">=", "y")]
    certificate = find_products(goal, False, facts)
    assert certificate is not None
    assert certificate.verify(goal, False, [(f, op) for f, op, _ in facts])
