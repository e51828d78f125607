"""Attempts to state the bound as facts about the metric and the method, each of which looks harmless."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from attack_tools import (
    INDEX_K,
    LEMMA,
    L,
    attempt,
    definition,
    dist2_0,
    dist2_1,
    f,
    k,
    mu,
    n,
    relation,
    sigma2,
    step,
    u,
    v,
    y,
    z,
)

from boundcheck.errors import BadInput
from boundcheck.proof.foundations import carried
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Context, Fact, Status
from boundcheck.proof.vectors import norm2
from boundcheck.theory.discovery import statement

FALSE = statement("scgd/lemma_3_1/as_printed_main")
contraction, noise = FALSE.bound.coeff(dist2_0), FALSE.bound.coeff(sigma2)
SIZES = tuple(f"domain {name}" for name in ("mu", "L", "n", "E", "eta", "sigma2"))


def metric(name, claim, kind="metric"):
    return Fact(name, claim, kind, "")


def le(left, right):
    return relation(sp.Le, left, right)


def test_the_bound_is_the_sum_of_its_parts():
    assert sp.expand(contraction * dist2_0 + noise * sigma2 - FALSE.bound) == 0


@pytest.mark.parametrize("kind", ["metric", "algorithm"])
@pytest.mark.parametrize("make", [sp.Le, sp.Eq], ids=["inequality", "equation"])
def test_a_bound_is_not_split_over_facts(kind, make):
    """Each part of the printed bound as a fact of its own; their sum is the false reading."""
    facts = (
        metric("parts", relation(make, dist2_1, y + z), kind),
        metric("first", relation(make, y, contraction * dist2_0), kind),
        metric("second", relation(make, z, noise * sigma2), kind),
    )
    conclude = [step("x", le(dist2_1, FALSE.bound), ("parts", "first", "second", *SIZES), Decide())]
    with pytest.raises(BadInput, match="may compare it with one symbol of the statement"):
        attempt(facts, conclude, about=FALSE)


def test_a_bound_is_not_split_over_vectors():
    facts = (
        metric("parts", le(dist2_1, norm2(u) + norm2(v))),
        metric("first", le(norm2(u), contraction * dist2_0)),
        metric("second", le(norm2(v), noise * sigma2)),
    )
    conclude = [step("x", le(dist2_1, FALSE.bound), ("parts", "first", "second"), Combine())]
    with pytest.raises(BadInput, match="'first' compares a run with"):
        attempt(facts, conclude, about=FALSE)


def test_a_bound_is_not_a_recursion():
    facts = (INDEX_K, metric("next", le(f(k + 1), contraction * f(k) + noise * sigma2)))
    with pytest.raises(BadInput, match="'next' compares a run with"):
        attempt(facts, [step("x", mu > 0, ("domain mu",), Decide())], about=FALSE)


def of_coefficients(about=FALSE):
    """|u|^2 and |v|^2 are the statement's own quantities, and the rates are factors of the metric."""
    facts = (
        metric("parts", le(dist2_1, contraction * norm2(u) + noise * norm2(v))),
        metric("first", sp.Eq(dist2_0, norm2(u))),
        metric("second", sp.Eq(sigma2, norm2(v))),
    )
    conclude = step("x", le(dist2_1, about.bound), ("parts", "first", "second", "domain mu"), Combine())
    return attempt(facts, [conclude], about=about)


def of_definitions():
    first, second = definition("y", contraction * dist2_0), definition("z", noise * sigma2)
    halves = sp.symbols("p q", real=True)
    facts = (
        first,
        second,
        metric("parts", le(dist2_1, sum(halves))),
        metric("p", le(2 * halves[0], 2 * y)),
        metric("q", le(halves[1], z)),
    )
    return attempt(facts, [step("x", le(dist2_1, FALSE.bound), ("parts", "p", "q", "y", "z"), Decide())], about=FALSE)


def test_rates_are_no_factors_of_the_metric():
    """The step is proved; the derivation is not, since no assumption was needed for the bound."""
    report = of_coefficients().examine(5)
    assert report.results[0].status is Status.PROVED
    assert report.bound_matches
    assert report.status is Status.UNDECIDED
    assert any("add up to the bound, without any assumption" in remark for remark in report.remarks)


def test_definitions_are_put_in():
    with pytest.raises(BadInput, match="compares a run with"):
        of_definitions()


@pytest.mark.parametrize("factor", [2, sp.Rational(1, 3), mu])
def test_the_bound_is_not_hidden_in_a_multiple_of_it(factor):
    facts = (metric("magic", le(factor * dist2_1, sp.expand(factor * FALSE.bound))),)
    with pytest.raises(BadInput):
        attempt(facts, [step("x", le(dist2_1, FALSE.bound), ("magic", "domain mu"), Decide())], about=FALSE)


def test_a_stronger_bound_is_not_a_fact_either():
    """dist2_1 <= 0 is about one number, and gives every bound that is not negative."""
    facts = (metric("magic", le(dist2_1, 0)),)
    positive = replace(FALSE, bound=dist2_0 + sigma2)
    uses = ("magic", "domain dist2_0", "domain sigma2")
    report = attempt(facts, [step("x", le(dist2_1, positive.bound), uses, Decide())], about=positive).examine(5)
    assert report.results[0].status is Status.PROVED
    assert report.status is Status.UNDECIDED


def test_equations_may_define_the_metric_of_a_statement_about_numbers():
    """1/(1 - A) is an expression in A; an inequality or the bound itself is no definition of it."""
    numbers = statement("partial_averaging/one_minus_a/corrected")
    A, inverse = sp.Symbol("A", real=True), sp.Symbol("inverse", real=True)
    conclude = step("x", le(inverse, numbers.bound), ("metric",), Decide())
    fair = attempt((metric("metric", sp.Eq(inverse * (1 - A), 1)),), [conclude], about=numbers, target=inverse)
    assert carried(numbers, fair.facts, conclude.claim, Context()) == ""
    split = (metric("metric", sp.Eq(inverse, y + z)), metric("y", sp.Eq(y, numbers.bound / 3)))
    split += (metric("z", sp.Eq(z, 2 * numbers.bound / 3)),)
    with pytest.raises(BadInput, match=r"is the conclusion itself|contains the bound"):
        attempt(split, [conclude], about=numbers, target=inverse)
    with pytest.raises(BadInput, match="compares a run with"):
        attempt((metric("metric", le(inverse, 1 + A)),), [conclude], about=numbers, target=inverse)


def test_what_is_one_symbol_of_the_statement_is_said():
    assert LEMMA.kind is FALSE.kind
    facts = (metric("start", sp.Eq(dist2_0, norm2(u))), metric("sum", le(norm2(v), 3 * n * sigma2)))
    assert attempt(facts, [step("x", L > 0, ("domain L",), Decide())]).examine(5).results[0].status is Status.PROVED
