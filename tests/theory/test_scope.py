"""Scope of SCGD's step condition: exact edges, both sides, floats at an edge, bad input."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from formulas import formula, number

from boundcheck.core.numbers import float_above, float_below
from boundcheck.errors import BadInput
from boundcheck.theory import typeset
from boundcheck.theory.discovery import statement
from boundcheck.theory.scope import Scope
from boundcheck.theory.serial import expr_from_json, expr_to_json
from boundcheck.theory.statement import Metric, Statement
from boundcheck.theory.symbols import Symbol, common

EDGE = {"mu": "1/100", "L": "1/10", "n": 2, "E": 64, "eta": "10/256"}


def small(*relations: sp.Basic, symbols: tuple[Symbol, ...] = ()) -> Statement:
    """A statement with the given conditions."""
    used: set[sp.Basic] = set().union(*(r.free_symbols for r in relations))
    return formula(sum(used, sp.Integer(0)), *relations, symbols=symbols, metric=Metric("gap", None))


def test_the_main_text_constant_is_met_exactly_on_its_edge() -> None:
    found = statement("scgd/theorem_3_3/as_printed_main").scope(**EDGE)
    assert found.in_scope is True
    (step,) = found.conditions
    assert step.exact == 0
    assert step.slack == (0.0, 0.0)
    beyond = statement("scgd/theorem_3_3/as_printed_main").scope(
        **{**EDGE, "eta": Fraction(10, 256) + Fraction(1, 10**40)}
    )
    assert beyond.in_scope is False
    assert beyond.conditions[0].exact == -Fraction(128, 10**40)


def test_the_corrected_constant_rules_that_point_out() -> None:
    found = statement("scgd/theorem_3_3").scope(**EDGE)
    assert found.in_scope is False
    (step,) = found.conditions
    # C = 0.0728897... at mu/L = 1/10, L = 1/10, against s = 5
    assert step.slack[0] == pytest.approx(0.0728897 - 5, abs=1e-6)
    assert step.relative == pytest.approx((0.0728897 - 5) / 0.0728897, rel=1e-4)


@pytest.mark.parametrize(
    ("reading", "ratio", "C"),
    [
        ("corrected", 1, (math.sqrt(177) - 9) / 48),
        ("corrected", Fraction(1, 10), 0.00728897),
        ("corrected", Fraction(1, 2), 0.0382138),
        ("as_printed_appendix", Fraction(1, 2), 0.0382138),
        ("conservative", 1, (math.sqrt(273) - 9) / 96),
        ("conservative", Fraction(1, 10), 0.00660487),
        ("conservative", Fraction(1, 2), 0.0343662),
        ("as_printed_main", Fraction(1, 10), 0.225272),
        ("as_printed_main", 1, (math.sqrt(177) - 9) / 48),
    ],
)
@pytest.mark.parametrize("L", [1, Fraction(7, 3)])
def test_both_sides_of_the_step_condition(reading: str, ratio: Fraction, C: float, L: Fraction) -> None:
    """Numbers of equation (2) computed apart; L*C depends on mu/L alone, but for the main text's constant."""
    if reading == "as_printed_main" and L != 1:
        L = Fraction(1)
    s = statement(f"scgd/theorem_3_3/{reading}")
    step = Fraction(C) / L / 6
    inside = s.scope(mu=ratio * L, L=L, n=2, E=3, eta=step * Fraction(99999, 100000))
    outside = s.scope(mu=ratio * L, L=L, n=2, E=3, eta=step * Fraction(100001, 100000))
    assert (inside.in_scope, outside.in_scope) == (True, False)
    assert inside.conditions[0].slack[0] > 0 > outside.conditions[0].slack[1]


def test_the_corrected_root_at_mu_equal_to_L_is_decided_around_40_digits() -> None:
    """C = (sqrt(177) - 9)/48: squares decide the edge; no rational meets it, near ones fall on either side."""
    digits = 45
    root = Fraction(math.isqrt(177 * 10 ** (2 * digits)), 10**digits)  # below sqrt(177)
    below, above = (root - 9) / 48, (root + Fraction(1, 10**digits) - 9) / 48
    s = statement("scgd/lemma_3_1")
    assert s.scope(mu=1, L=1, n=1, E=1, eta=below).in_scope is True
    assert s.scope(mu=1, L=1, n=1, E=1, eta=above).in_scope is False


@pytest.mark.parametrize(("shift", "expected"), [(0, True), (Fraction(1, 10**40), False), (Fraction(-1, 10**40), True)])
def test_roots_that_are_perfect_squares_meet_their_edge(shift: Fraction, expected: bool) -> None:
    mu, L, eta = common.mu.expr, common.L.expr, common.eta.expr
    s = small(sp.Le(eta, sp.sqrt(mu**2 + L**2) - mu), symbols=(common.mu, common.L, common.eta))
    for a, b, c in ((3, 4, 5), (5, 12, 13), (8, 15, 17)):
        found = s.scope(mu=Fraction(a, 7), L=Fraction(b, 7), eta=Fraction(c - a, 7) + shift)
        assert found.in_scope is expected
        assert found.conditions[0].exact == -shift


def test_strict_and_other_relations_on_inside_and_outside() -> None:
    x = number("a").expr
    for relation, at_edge, above, below in (
        (sp.Lt(x, 2), False, False, True),
        (sp.Le(x, 2), True, False, True),
        (sp.Gt(x, 2), False, True, False),
        (sp.Ge(x, 2), True, True, False),
        (sp.Eq(x, 2), True, False, False),
        (sp.Ne(x, 2), False, True, True),
    ):
        s = small(relation)
        found = [s.scope(a=v).in_scope for v in (2, 2 + Fraction(1, 10**50), 2 - Fraction(1, 10**50))]
        assert found == [at_edge, above, below], relation


def test_floats_of_one_over_L_and_the_note() -> None:
    """eta*L <= 1 with the float of 1/L: 70 of L = 1..199 miss the edge, and every miss is explained."""
    eta, L = common.eta.expr, common.L.expr
    s = small(sp.Le(eta * L, 1), symbols=(common.L, common.eta))
    missed = 0
    for value in range(1, 200):
        found = s.scope(L=value, eta=1 / value)
        exact = Fraction(1 / value) * value <= 1
        assert found.in_scope is exact
        note = found.conditions[0].note
        if exact:
            assert note == ""
        else:
            missed += 1
            assert "less than one unit in the last place" in note
            advised = note.split("such as '")[1].split("'")[0]
            assert s.scope(L=value, eta=advised).in_scope is True
        assert s.scope(L=value, eta=f"1/{value}").in_scope is True
    assert missed == 70


def test_a_miss_by_more_than_a_unit_gets_no_note() -> None:
    eta, L = common.eta.expr, common.L.expr
    s = small(sp.Le(eta * L, 1), symbols=(common.L, common.eta))
    assert s.scope(L=49, eta=math.nextafter(math.nextafter(1 / 49, 1), 1)).conditions[0].note == ""
    assert s.scope(L=1, eta=2.0).conditions[0].note == ""


def test_several_rounded_floats_are_explained_by_their_decimals() -> None:
    a, b, c = (number(name).expr for name in "abc")
    s = small(sp.Ge(a - b - c, 0))
    found = s.scope(a=0.3, b=0.1, c=0.2)  # the binary values of 0.1 and 0.2 add up to more than that of 0.3
    assert found.in_scope is False
    assert "give" in found.conditions[0].note
    # each binary value lies 0.44 to 0.48 units in the last place above its decimal, so that one unit is not enough
    s = small(sp.Le(a + b + c, sp.Rational(41, 20)))
    note = s.scope(a=0.56, b=0.81, c=0.68).conditions[0].note
    assert "met by the decimals a = '0.56', b = '0.81', c = '0.68'" in note
    assert s.scope(a="0.56", b="0.81", c="0.68").in_scope is True
    assert s.scope(a=0.57, b=0.81, c=0.68).conditions[0].note == ""


def test_an_undefined_side_fails_with_a_note() -> None:
    found = small(sp.Le(sp.sqrt(number("a").expr), 3)).scope(a=-1)
    assert found.in_scope is False
    assert "root of a negative number" in found.conditions[0].note
    assert math.isnan(found.conditions[0].slack[0])


def test_an_undecidable_condition_is_neither() -> None:
    a, b = (number(name, low=Fraction(0), low_open=True) for name in "ab")
    s = small(sp.Le(sp.log(a.expr), 2 * sp.log(b.expr)), symbols=(a, b))
    assert s.scope(a=4, b=2).in_scope is None
    assert s.scope(a=4, b=2).conditions[0].holds is None
    assert s.scope(a=4, b="2.0000000001").in_scope is True


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_one_condition_that_fails_is_enough_whatever_is_undecided_beside_it(order: tuple[int, int, int]) -> None:
    a, b, c = (number(name, low=Fraction(0), low_open=True) for name in "abc")
    relations = (sp.Le(sp.log(a.expr), 2 * sp.log(b.expr)), sp.Le(c.expr, 3), sp.Ge(c.expr, 2))
    s = small(*(relations[k] for k in order), symbols=(a, b, c))
    undecided = {"a": 4, "b": 2}
    assert s.scope(**undecided, c="5/2").in_scope is None
    assert s.scope(**undecided, c=4).in_scope is False
    assert s.scope(**undecided, c=1).in_scope is False
    assert [r.holds for r in s.scope(**undecided, c=4).conditions].count(None) == 1
    assert s.evaluate(**undecided, c=4).in_scope is False


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mu": "1/5"}, ["mu = 1/5", "L = 1/10", "mu <= L"]),
        ({"eta": 0}, ["eta = 0", "eta > 0"]),
        ({"eta": -1}, ["eta = -1"]),
        ({"eta": math.nan}, ["eta", "nan"]),
        ({"eta": math.inf}, ["eta", "inf"]),
        ({"n": 0}, ["n = 0", "integers n >= 1"]),
        ({"n": -3}, ["n = -3"]),
        ({"E": "1/2"}, ["E = 1/2", "integers"]),
        ({"sigma2": -1}, ["sigma2 = -1"]),
        ({"eta": True}, ["eta", "truth value"]),
        ({"mu": "__import__('os').system('x')"}, ["mu", "not a number"]),
        ({"mu": "9**9**9**9"}, ["mu", "not a number"]),
        ({"eta": [1, 2]}, ["eta", "one value"]),
        ({"eta": np.array([0.1])}, ["eta", "one value"]),
        ({"eta": None}, ["eta", "not a number"]),
    ],
)
def test_bad_values_are_refused_in_a_sentence(change: dict, words: list[str]) -> None:
    with pytest.raises(BadInput) as caught:
        statement("scgd/theorem_3_3").scope(**{**EDGE, **change})
    for word in words:
        assert word in str(caught.value)


def test_mu_above_L_by_one_unit_in_the_last_place_is_explained() -> None:
    with pytest.raises(BadInput, match="unit in the last place"):
        statement("scgd/theorem_3_3").scope(**{**EDGE, "mu": 0.1, "L": "1/10", "eta": "1/100000"})


def test_scope_reads_well_and_round_trips_through_json() -> None:
    s = statement("scgd/theorem_3_3")
    for values in (EDGE, {**EDGE, "eta": "1/100000"}):
        found = s.scope(**values)
        assert "step size" in repr(found)
        assert "strong_quasi_convexity" in repr(found)
        assert "<table>" in found._repr_html_()
        again = Scope.from_dict(json.loads(json.dumps(found.to_dict())))
        assert again == found
    assert "out of scope" in repr(s.scope(**EDGE))
    assert len(s.scope(**EDGE).failed) == 1
    with pytest.raises(TypeError, match="in_scope"):
        bool(s.scope(**EDGE))


def test_slack_ends_enclose_the_exact_slack() -> None:
    s = small(sp.Le(number("a").expr, number("b").expr))
    (c,) = s.scope(a="1/3", b=1).conditions
    assert c.exact == Fraction(2, 3)
    assert Fraction(c.slack[0]) < Fraction(2, 3) < Fraction(c.slack[1])
    assert math.nextafter(c.slack[0], 1) == c.slack[1]
    assert c.relative == pytest.approx(2 / 3)


def test_whole_cycles_in_every_form() -> None:
    """n divides T: one point, arrays, text, LaTeX, MathML, JSON and dimensions."""
    s = statement("scgd/choice_of_e")
    values = {"mu": 1, "L": 1, "n": 3, "E": 1, "ell": "1/100"}
    (row,) = (c for c in s.scope(**values, T=1000).conditions if c.name == "whole cycles")
    assert (row.holds, row.exact) == (False, Fraction(-1, 3))
    assert row.relation == "floor(T/n) = T/n"
    assert s.scope(**values, T=999).in_scope is True
    T = [999, 1000, 10**30, 10**30 + 2, 3 * 10**15]
    found = s.evaluate(**values, sigma2=1, dist2_0=1, T=T)
    assert found.in_scope.tolist() == [True, False, False, True, True]
    (condition,) = (c for c in s.conditions if c.name == "whole cycles")
    assert typeset.condition_latex(condition, s) == r"\left\lfloor{\frac{T}{n}}\right\rfloor = \frac{T}{n}"
    assert "⌊" in typeset.expr_mathml(condition.relation, s)
    assert expr_from_json(expr_to_json(condition.relation)) == condition.relation
    assert s.dimension_errors() == []


def test_floats_around_a_fraction_beyond_the_range_of_doubles() -> None:
    huge, largest = Fraction(10) ** 400, sys.float_info.max
    assert (float_below(huge), float_above(huge)) == (largest, math.inf)
    assert (float_below(-huge), float_above(-huge)) == (-math.inf, -largest)
    third = Fraction(1, 3)
    assert float_below(third) < third < float_above(third) == math.nextafter(float_below(third), 1)
    assert float_below(Fraction(3, 8)) == float_above(Fraction(3, 8)) == 0.375
    assert (float_below(1 / huge), float_above(1 / huge)) == (0.0, math.nextafter(0, 1))
