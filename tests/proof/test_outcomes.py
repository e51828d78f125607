"""Random and fixed vectors: an equation of vectors holds for every outcome, a mean is stated by inner products."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from attack_tools import LEMMA, attempt, mu, step

from boundcheck.errors import BadInput
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation, derived_readings, folder
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector
from boundcheck.theory.discovery import statement

r, k, K, j, eta, n = sp.symbols("r k K j eta n", real=True)
s, g, x, slope, mean = vector("s", r), vector("g", r), vector("x", r), vector("slope"), vector("g")
ZERO = Vector(())
INDEX_R = Fact("index r", sp.And(r >= 0, r <= k - 1), "index", "")
DECLARING = sorted(
    (x.parent.name, x.stem) for x in folder().glob("*/*.py") if "drawn=" in x.read_text() or "DRAWN" in x.read_text()
)
SGD = derivation("classics/sgd_convex/sharp")
DANE = derivation("feddane/theorem_5/sharp_any_cohort")


def with_fact(original: Derivation, claim: object, kind: str = "assumption", **more: object) -> Derivation:
    """The derivation with one more fact."""
    name = original.statement.assumptions[1].name if kind == "assumption" else ""
    assumed = {"block_variance", "unbiased_gradient_cohort"} & {a.name for a in original.statement.assumptions}
    fact = Fact("E g", claim, kind, "", assumed.pop() if kind == "assumption" else name)
    facts = tuple(f for f in original.facts if f.name != "E g")
    return replace(original, facts=(*facts, fact), steps=original.steps, **more)


@pytest.mark.parametrize("kind", ["assumption", "algorithm", "metric"])
@pytest.mark.parametrize(
    ("original", "claim"),
    [
        (SGD, VectorEquality(g, s)),
        (SGD, VectorEquality(s, g)),
        (SGD, VectorEquality(g * 2, s + x)),
        (SGD, VectorEquality(g, ZERO)),
        (DANE, VectorEquality(mean, slope)),
        (DANE, VectorEquality(vector_total(vector("G", j), j, K), slope * K)),
        (DANE, VectorEquality(vector("d", k), mean)),
    ],
    ids=["g is s", "s is g", "past", "zero", "mean gradient", "mean of draws", "solution"],
)
def test_a_mean_is_no_equation_of_vectors(original, claim, kind):
    """E g = s as g == s would take the variance of g away."""
    with pytest.raises(BadInput, match="depends on the last draw; state what holds in expectation by inner products"):
        with_fact(original, claim, kind)


def test_what_such_an_equation_would_prove():
    """That g has no variance at all, in one step."""
    equal = Fact("E g", VectorEquality(g, s), "assumption", "", "block_variance")
    gone = Step("x", sp.Le(norm2(g - s), 0), ("E g",), Combine(), "")
    with pytest.raises(BadInput, match=r"only g\(r\) depends on the last draw"):
        attempt((INDEX_R, equal), [gone], about=SGD.statement, target=SGD.target, drawn=SGD.drawn)


@pytest.mark.parametrize(
    "claim",
    [
        sp.Le(norm2(g - s), 0),
        sp.Ge(0, norm2(g - s)),
        sp.Eq(norm2(g - s), 0),
        sp.Le(norm2(g) + 3 * norm2(g - s * 2), 0),
        sp.Le(norm2(g) + norm2(s), 2 * inner(g, s)),
    ],
    ids=["at most 0", "turned", "equation", "two", "expanded"],
)
def test_nor_is_it_a_vanishing_square(claim):
    with pytest.raises(BadInput, match="a sum of squares is at most 0"):
        with_fact(SGD, claim)


def test_a_mean_is_stated_by_inner_products():
    assert with_fact(SGD, sp.Le(inner(g - s, x), 0))
    assert with_fact(SGD, sp.Eq(inner(g, x), inner(s, x)))
    later = VectorEquality(vector("x", r + 1), x - g * eta)
    assert with_fact(SGD, later, "algorithm")
    with pytest.raises(BadInput, match="depends on the last draw"):
        with_fact(SGD, VectorEquality(vector("x", r + 1), x - s * eta), "algorithm")


def _equates(fact):
    return isinstance(fact.claim, VectorEquality) and fact.kind != "definition"


@pytest.mark.parametrize("shipped", DECLARING, ids="/".join)
def test_a_declaration_is_needed_where_the_metric_is_an_expectation(shipped):
    """One reading of each that equates vectors; a derivation that equates none needs no declaration."""
    readings = [derivation("/".join((*shipped, reading))) for reading in derived_readings(*shipped)]
    original = next(x for x in readings if any(_equates(f) for f in x.facts))
    assert original.drawn
    if original.statement.metric.expectation.startswith("none"):
        assert replace(original, drawn=())
        return
    with pytest.raises(BadInput, match=r"is not declared|depends on the last draw"):
        replace(original, drawn=())


def test_a_deterministic_method_needs_no_declaration():
    fact = Fact("step", VectorEquality(vector("w", n + 1), vector("w", n)), "algorithm", "")
    steps = [step("x", mu > 0, ("domain mu",), Decide())]
    assert LEMMA.metric.expectation.startswith("none")
    assert attempt((fact,), steps)


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (((s, r), (x, r)), r"the vector g\(r\) depends is not declared"),
        ((*SGD.drawn, (g + s, r)), "no single vector"),
        ((*SGD.drawn, (g * 2, r)), "no single vector"),
        (((s, r), (g, r + 1), (x, k - r)), "cannot be compared"),
    ],
    ids=["missing", "sum", "multiple", "order"],
)
def test_a_declaration_is_about_every_vector(drawn, message):
    with pytest.raises(BadInput, match=message):
        replace(SGD, drawn=drawn)


def test_a_defined_vector_depends_on_what_defines_it():
    about = statement("feddane/theorem_5/as_printed")
    error = vector("error")
    known = (
        Fact("error", VectorEquality(error, mean - slope), "definition", ""),
        Fact("gone", VectorEquality(error, ZERO), "algorithm", ""),
    )
    steps = (Step("x", sp.Ge(norm2(error), 0, evaluate=False), (), Combine(), ""),)
    with pytest.raises(BadInput, match="only error depends on the last draw"):
        Derivation(about, (*scope_facts(about), *known), steps, "x", sp.Symbol("gap_1", real=True), drawn=DANE.drawn)
    drawn = (*DANE.drawn, (error, 0))
    with pytest.raises(BadInput, match="are those of its definition"):
        Derivation(about, (*scope_facts(about), *known), steps, "x", sp.Symbol("gap_1", real=True), drawn=drawn)
