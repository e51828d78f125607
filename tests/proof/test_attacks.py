"""Attempts to prove what is false by rules, ranges and definitions: each is refused or left undecided."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from attack_tools import (
    INDEX_K,
    INDEX_M,
    PLAIN,
    RANGE_A,
    E,
    L,
    P,
    T,
    a,
    attempt,
    definition,
    dist2_0,
    eta,
    f,
    g,
    grad,
    j,
    k,
    last,
    m,
    mu,
    n,
    relation,
    s,
    sigma2,
    step,
    t,
    u,
    v,
    y,
    z,
)

from boundcheck.errors import BadInput
from boundcheck.proof.discovery import derivation
from boundcheck.proof.exact import holds
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import (
    CauchySchwarz,
    Induction,
    Jensen,
    Limit,
    MeanValue,
    PartialSum,
    SumOver,
    Supposing,
    Telescoping,
)
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Fact, Status
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

# rules use claims for all values of declared indices only


def test_the_printed_reading_is_not_proved_by_a_limit_in_the_number_of_devices():
    original = derivation("scgd/lemma_3_1/as_printed_main")
    dropped = {"requirement 3", "E12.1", "E12", "E11", "E11.1", "E11.2", "E10"}
    steps = [st for st in original.steps if st.name not in dropped]
    bracket = (1 - mu * s + L**2 * s**2) / (1 - mu * s / 2) + 4 * L**4 * s**3 / (mu * (1 - 2 * L**2 * s**2))
    contraction = 1 - mu * s / 3
    known = ("requirement 1", "requirement 2", "domain n", "domain mu", "domain L", "domain 1", "s > 0")
    slack = step("slack", sp.Le(bracket, contraction + n * (2 + L / mu)), known, Decide())
    limit = step("E12", sp.Le(bracket, contraction), ("slack", *known), Limit("slack", n))
    place = [st.name for st in steps].index("E13")
    report = replace(original, steps=(*steps[:place], slack, limit, *steps[place:])).examine(10)
    assert report.bound_matches
    assert report.result("slack").status is Status.PROVED
    assert report.result("E12").status is Status.UNDECIDED
    assert report.status is Status.UNDECIDED


OVER_PARAMETERS = {
    "limit in n": (relation(sp.Ge, -1, 0), ("domain n",), Limit("domain n", n)),
    "sum over E": (sp.Ge(n * (n - 1) / 2 - n, 0), ("domain E", "domain n"), SumOver("domain E", E, n)),
    "part of a sum over E": (
        relation(sp.Le, 0, n * (n - 1) / 2 - n),
        ("domain n", "domain E"),
        PartialSum(E - 1, E, sp.Integer(0), n),
    ),
    "Cauchy-Schwarz over E": (
        sp.Le(norm2(vector_total(vector("g", E), E, n)), n * total(norm2(vector("g", E)), E, n)),
        ("domain n",),
        CauchySchwarz(vector("g", E), E, n),
    ),
    "sum over a symbol that nobody declared": (
        sp.Le(total(norm2(vector("g", y)), y, n), n * L**2),
        ("A", "domain n"),
        SumOver("A", y, n),
    ),
}


@pytest.mark.parametrize("name", OVER_PARAMETERS)
def test_a_rule_does_not_generalise_what_is_fixed(name):
    claim, uses, rule = OVER_PARAMETERS[name]
    facts = (Fact("A", sp.Le(norm2(vector("g", y)), L**2), "assumption", "", PLAIN),)
    found = last(facts, [step("x", claim, uses, rule)])
    assert found.status in (Status.UNDECIDED, Status.REFUTED)  # some have an exact counterexample
    assert "is not declared as an index" in found.note


def test_telescoping_and_induction_over_a_parameter():
    facts = (Fact("local", VectorEquality(vector("w", E + 1), vector("w", E) - grad), "algorithm", ""),)
    claim = VectorEquality(vector("w", n), vector("w", 0) + vector_total(-grad, E, n))
    found = last(facts, [step("x", claim, ("local", "domain n"), Telescoping("local", E, n))])
    assert found.status is Status.REFUTED

    def square(q):
        return relation(sp.Ge, q**2, 2 * q)

    steps = [
        step("base", relation(sp.Ge, 0, 0), (), Decide()),
        step("next", sp.Implies(square(E), square(E + 1)), ("domain E",), Supposing(Decide())),
        step("all", square(n), ("next", "base", "domain n"), Induction("base", "next", E, n)),
    ]
    assert last((), steps).status is Status.UNDECIDED  # n = 1 breaks it


def test_a_real_rule_does_not_generalise_an_integer_nor_an_integer_rule_a_real():
    """A claim for integers says nothing between them, and a sum is over integers."""
    steps = [step("x", relation(sp.Ge, -1, -1), ("index m",), Limit("index m", m))]
    facts = (Fact("index m", sp.And(m >= 0, m <= 5), "index", ""),)
    claim = sp.Ge(f(1) - f(0), 3)
    rise = Fact("rise", sp.Ge(sp.diff(f(m), m), 3), "metric", "")
    mean = [step("x", claim, ("rise", "index m"), MeanValue(f(m), m, sp.Integer(3), sp.Integer(0), "rise"))]
    for one in (last(facts, steps), last((*facts, rise), mean)):
        assert one.status is Status.UNDECIDED
        assert "real variable" in one.note
    below = Fact("below", sp.Le(f(a), L), "metric", "")
    summed = [step("x", sp.Le(total(f(a), a, n), n * L), ("below", "domain n"), SumOver("below", a, n))]
    found = last((Fact("range a", a >= 0, "range", ""), below), summed)
    assert "integer index" in found.note


@pytest.mark.parametrize(
    ("claim", "rule"),
    [
        (sp.Implies(sp.Le(norm2(g), 1), sp.Le(total(norm2(g), m, n), n)), SumOver("hypothesis", m, n)),
        (sp.Implies(relation(sp.Ge, a * L, z), relation(sp.Ge, 0, z)), Limit("hypothesis", a)),
    ],
    ids=["sum", "limit"],
)
def test_a_hypothesis_is_known_at_one_index_only(claim, rule):
    uses = ("index m", "range a", "domain n", "domain L")
    found = last((INDEX_M, RANGE_A), [step("x", claim, uses, Supposing(rule))])
    assert found.status is Status.UNDECIDED
    assert "at one value" in found.note
    partial = sp.Implies(sp.Ge(inner(g, u), 0), sp.Le(total(inner(g, u), m, 1), total(inner(g, u), m, n)))
    rule = PartialSum(inner(g, u), m, sp.Integer(1), n)
    found = last((INDEX_M,), [step("x", partial, ("domain n",), Supposing(rule))])
    assert found.status is Status.UNDECIDED


# ranges of indices assume nothing


@pytest.mark.parametrize("kind", ["range", "index"])
def test_an_index_fact_does_not_restrict_a_symbol_of_the_statement(kind):
    with pytest.raises(BadInput, match="a symbol of the statement"):
        attempt((Fact("r", sp.Le(eta, mu / (1000 * L**2)), kind, ""),), [step("x", eta > 0, ("domain eta",), Decide())])


@pytest.mark.parametrize("first", ["definition", "range"])
def test_an_index_fact_does_not_restrict_a_definition(first):
    facts = [definition("s", n * E * eta), Fact("r", sp.Le(s, mu / (1000 * L**2)), "range", "")]
    with pytest.raises(BadInput):
        attempt(facts if first == "definition" else facts[::-1], [step("x", s > 0, ("s",), Decide())])


def test_an_empty_range_proves_nothing_about_the_rest():
    """0 <= j <= n - 2 has no value for n = 1; 1 <= t <= mu/L has none for mu < L."""
    few = Fact("index j", sp.And(j >= 0, j <= n - 2), "index", "")
    found = last((few,), [step("x", n >= 2, ("index j",), Decide())])
    assert found.status is Status.UNDECIDED
    assert "no value of j" in found.note
    narrow = Fact("range t", sp.And(t >= 1, t <= mu / L), "range", "")
    found = last((narrow,), [step("x", mu >= L, ("range t", "domain L"), Decide())])
    assert found.status is Status.UNDECIDED
    enough = last((few, definition("P", n)), [step("x", P >= 0, ("P", "domain n"), Decide())])
    assert enough.status is Status.PROVED


def test_an_index_that_has_values_may_be_dropped():
    found = last((INDEX_M,), [step("x", n >= 1, ("index m", "domain n"), Decide())])
    assert found.status is Status.PROVED


def test_a_range_that_depends_on_the_index_is_not_carried_along():
    """j from m to 0 leaves m = 0 only; summed over m < n that would give n(n-1)/2 <= 0."""
    depending = Fact("index j", sp.And(j >= m, j <= 0), "index", "")
    steps = [
        step("m", m <= 0, ("index j",), Decide()),
        step("x", sp.Le(n * (n - 1) / 2, 0), ("m", "domain n"), SumOver("m", m, n)),
    ]
    report = attempt((INDEX_M, depending), steps).examine(5)
    assert report.result("m").status is Status.UNDECIDED
    kept = [
        step("m", relation(sp.Le, m + j, j), ("index j",), Decide()),
        step("x", sp.Le(n * (n - 1) / 2 + n * j, n * j), ("m", "domain n"), SumOver("m", m, n)),
    ]
    report = attempt((INDEX_M, depending), kept).examine(5)
    assert report.result("m").status is Status.PROVED
    assert "depends on m" in report.result("x").finding.note
    with pytest.raises(BadInput, match="declared before"):
        attempt((depending, INDEX_M), steps)


def test_an_empty_range_does_not_prove_a_step_case():
    """0 <= j <= 2 - k has values for k <= 2 only, so k <= 3 => k + 1 <= 3 does not follow for every k."""

    def few(q):
        return relation(sp.Le, q, 3)

    steps = [
        step("next", sp.Implies(few(k), few(k + 1)), ("index j", "index k"), Supposing(Decide())),
        step("base", few(sp.Integer(0)), (), Decide()),
        step("all", few(n), ("next", "base", "domain n"), Induction("base", "next", k, n)),
    ]
    report = attempt((INDEX_K, Fact("index j", sp.And(j >= 0, j <= 2 - k), "index", "")), steps).examine(5)
    assert report.result("next").status is Status.UNDECIDED
    assert report.result("all").depends_on == ("next",)
    assert report.status is Status.UNDECIDED


# definitions introduce what is new and has a value


@pytest.mark.parametrize(
    ("value", "first", "second", "extra"),
    [
        (1 / sigma2, sp.Eq(y * sigma2, 1), sigma2 > 0, "domain sigma2"),
        (mu / (mu - L), sp.Eq(y * (mu - L), mu), sp.Ne(mu, L), "domain mu"),
        (sp.sqrt(-sigma2), sp.Eq(y**2, -sigma2), sigma2 <= 0, "domain L"),
        ((-L) ** eta, sp.Eq(y, (-L) ** eta), sp.Eq(y, (-L) ** eta), "domain L"),
        ((-sigma2) ** sp.Rational(1, 4), sp.Eq(y**4, -sigma2), sigma2 <= 0, "domain L"),
    ],
    ids=["quotient", "difference", "square root", "power", "fourth root"],
)
def test_a_definition_must_have_a_value(value, first, second, extra):
    steps = [step("first", first, ("y",), Identity()), step("second", second, ("first", extra), Decide())]
    report = attempt((definition("y", value),), steps).examine(5)
    assert report.status is Status.UNDECIDED
    assert report.result("first").status is Status.UNDECIDED
    assert "not shown to have a value" in report.result("first").finding.note
    assert "first" in report.result("second").depends_on
    assert attempt((definition("y", value),), steps).check_step("first", 5).status is Status.UNDECIDED
    fine = attempt((definition("y", 1 / mu),), [step("x", sp.Eq(y * mu, 1), ("y",), Identity())]).examine(5)
    assert fine.results[0].status is Status.PROVED


def test_a_range_does_not_give_a_definition_its_value():
    narrow = Fact("range t", sp.And(t >= 1, t <= sigma2), "range", "")
    found = last((narrow, definition("y", 1 / sigma2)), [step("x", sp.Eq(y * sigma2, 1), ("y",), Identity())])
    assert found.status is Status.UNDECIDED


def test_a_claim_that_loses_its_denominator_is_not_proved():
    facts = (definition("y", 2 * sigma2), definition("z", sp.Integer(2)))
    found = last(facts, [step("x", sp.Eq(z, y / sigma2), ("y", "z"), Identity())])
    assert found.status is Status.UNDECIDED
    assert "sigma2" in found.note


def test_a_rule_with_terms_that_have_no_value():
    """The instance says nothing at sigma2 = 0, where the claim, once simplified, still has a value."""
    half = sp.Rational(1, 2)
    rule = Jensen((half, half), (u / sigma2, v / sigma2))
    claim = sp.Le(norm2(u + v) / (4 * sigma2**2), (norm2(u) + norm2(v)) / (2 * sigma2**2))
    assert last((), [step("x", claim, ("domain sigma2",), rule)]).status is Status.UNDECIDED


def test_a_refutation_gives_every_part_a_value():
    claim = sp.sqrt(z) < -a + sp.sqrt(z) + z
    found = decide(claim, {"z": sp.Le(z, -1)})
    assert found.status is Status.UNDECIDED
    assert holds(claim, {"z": sp.Rational(-1), "a": sp.Integer(0)}) is None


def test_a_definition_comes_before_its_symbol_is_used():
    bound = Fact("A", sp.Le(norm2(u), z), "assumption", "", PLAIN)
    steps = [step("x", sp.Le(norm2(u), 0), ("A", "z"), Combine())]
    with pytest.raises(BadInput, match="already in use"):
        attempt((bound, definition("z", sp.Integer(0))), steps)
    facts = (
        Fact("A2.1", sp.Ge(inner(grad, u), mu / 2 * norm2(u)), "assumption", "", PLAIN),
        Fact("stationary", VectorEquality(grad, Vector(())), "definition", ""),
    )
    with pytest.raises(BadInput, match="already in use"):
        attempt(facts, [step("x", sp.Le(norm2(u), 0), ("A2.1", "stationary", "domain mu"), Combine())])


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (vector("h"), g, "not among its arguments"),
        (vector("h", m * (1 - m)), g, "function of indices"),
        (vector("h", m), vector("h", m + 1) * 2 + g, "already in use"),
        (vector("h", m, m), g, "each once"),
        (vector("h") * mu, u, "without a factor"),
    ],
    ids=["constant", "not one to one", "itself", "diagonal", "factor"],
)
def test_a_vector_is_defined_once_at_each_index(left, right, message):
    facts = (INDEX_M, Fact("h", VectorEquality(left, right), "definition", ""))
    with pytest.raises(BadInput, match=message):
        attempt(facts, [step("x", mu > 0, ("domain mu",), Decide())])


def test_a_factor_that_may_vanish_is_not_divided_by():
    facts = (Fact("A", VectorEquality(u * (mu - L), v * (mu - L)), "algorithm", ""),)
    with pytest.raises(BadInput, match="number as"):
        attempt(facts, [step("x", VectorEquality(u, v), ("A",), Identity())]).examine(5)


# quantities


def test_quantities_are_shown_to_be_at_least_0():
    steps = [step("q", T >= 0, (), Decide()), step("x", dist2_0 <= 0, ("T", "q"), Decide())]
    report = attempt((definition("T", -dist2_0),), steps, quantities=("T",)).examine(5)
    assert report.result("q").status is not Status.PROVED
    assert report.status is not Status.PROVED
    assert any("T is not shown to be at least 0" in remark for remark in report.remarks)
    with pytest.raises(BadInput, match="quantity 'z'"):
        attempt((), [step("x", z >= 0, (), Decide())], quantities=("z",))
    gradients = total(norm2(g - vector("h", m)), m, n) * eta**2
    sound = attempt((INDEX_M, definition("T", gradients)), [step("q", T >= 0, (), Decide())], quantities=("T",))
    assert sound.examine(5).results[0].status is Status.PROVED
    mixed = total(inner(g, u), m, n)
    found = last((INDEX_M, definition("T", mixed)), [step("q", T >= 0, (), Decide())], quantities=("T",))
    assert found.status is not Status.PROVED
