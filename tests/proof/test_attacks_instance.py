"""Attempts to take from another statement what it does not say, and what roots and equations may be concluded."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from boundcheck.errors import BadInput, UnknownName
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.exact import holds
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.scalar import decide
from boundcheck.proof.step import Fact, Status, Step
from boundcheck.theory.discovery import statement
from boundcheck.theory.statement import Algorithm, Metric

L, gap_0, dist2_0, xi, dist2_1, y, k, n = sp.symbols("L gap_0 dist2_0 xi dist2_1 y k n", real=True)
RECURSION = statement("fedshuffle/recursion_convex/corrected")
C_1, C_2 = "fedshuffle/lemma_c_1/corrected", "fedshuffle/lemma_c_2/corrected"
ROUNDS = ((xi, 0), (y, 0))
GAP = (("gap_0", gap_0),)
START = (("drift_0", xi), ("dist2_0", dist2_0), *GAP)
DRIFT = Fact("drift >= 0", xi >= 0, "metric", "")


def cited(rule, about=RECURSION, facts=(DRIFT,), claim=None, uses=None):
    """The finding of one step that takes the claim from another statement."""
    every = (*scope_facts(about), *facts)
    names = tuple(f.name for f in every) if uses is None else uses
    step = Step("it", rule.instance({}) if claim is None else claim, names, rule, "")
    target = dist2_1 if about is RECURSION else y
    rounds = ROUNDS if about is RECURSION else ()
    return Derivation(about, every, (step,), "it", target, rounds=rounds).check_step("it")


def test_what_is_said_is_taken():
    found = cited(Instance(C_2, xi, GAP))
    assert found.status is Status.PROVED
    assert found.certificate["statement"] == C_2
    assert cited(Instance(C_1, dist2_1, START)).status is Status.PROVED


def test_no_more_is_taken_than_is_said():
    rule = Instance(C_2, xi, GAP)
    claim = rule.instance({})
    for left, right in ((claim.lhs, claim.rhs * sp.Rational(99, 100)), (2 * claim.lhs, claim.rhs), (xi, claim.rhs)):
        found = cited(rule, claim=sp.Le(left, right, evaluate=False))
        assert found.status is Status.UNDECIDED
        assert "not what the rule gives" in found.note


def test_it_is_as_weak_as_what_it_rests_on():
    found = cited(Instance("fedshuffle/lemma_c_2/as_printed", xi, GAP))
    assert found.status is Status.REFUTED
    assert "REFUTED at rounding" in found.note


@pytest.mark.parametrize("left_out", ["condition step size", "condition server step size"])
def test_every_condition_is_shown(left_out):
    names = tuple(f.name for f in (*scope_facts(RECURSION), DRIFT) if f.name != left_out)
    found = cited(Instance(C_2, xi, GAP), uses=names)
    assert found.status is Status.UNDECIDED
    assert "does not apply" in found.note


def test_a_value_at_the_start_must_be_at_least_0_too():
    found = cited(Instance(C_1, dist2_1, (("drift_0", y), *START[1:])), facts=())
    assert found.status is Status.UNDECIDED


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"algorithm": Algorithm("fedavg_reshuffled", ("E", "eta_l", "eta_g"))}, "another method"),
        ({"algorithm": None}, "another method"),
        ({"assumptions": RECURSION.assumptions[:1]}, "assumes smooth_samples"),
        ({"metric": replace(RECURSION.metric, surrogate=True)}, "another objective"),
        ({"symbols": tuple(s.but(key="other/L") if s.name == "L" else s for s in RECURSION.symbols)}, "L is not"),
    ],
)
def test_only_about_the_same_run(changes, why):
    about = replace(RECURSION, **changes)
    every = (*scope_facts(about), DRIFT)
    rule = Instance(C_2, xi, GAP)
    step = Step("it", rule.instance({}), tuple(f.name for f in every), rule, "")
    found = Derivation(about, every, (step,), "it", dist2_1, rounds=ROUNDS).check_step("it")
    assert found.status is Status.UNDECIDED
    assert why in found.note


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        (Instance(C_2, gap_0, GAP), "gap_0 is no quantity of its own"),  # the gap is no drift
        (Instance(C_2, 0 * xi, GAP), "0 is no quantity of its own"),
        (Instance(C_2, xi - 1, GAP), "xi - 1 is no quantity of its own"),
        (Instance(C_2, xi, (("L", y), *GAP)), "L of fedshuffle/lemma_c_2/corrected stands for itself"),
        (Instance(C_2, xi, (("gap_0", y),)), "gap_0 of fedshuffle/lemma_c_2/corrected is the value at the start"),
        (Instance(C_2, xi, (("gap_0", dist2_0),)), "gap_0 of fedshuffle/lemma_c_2/corrected is the value at the start"),
        (Instance(C_2, xi), "nothing stands for gap_0"),
        (Instance(C_1, dist2_1, (("drift_0", gap_0), *START[1:])), "gap_0 is no quantity of its own"),
        (Instance(C_1, dist2_1, (("drift_0", sp.Integer(0)), *START[1:])), "0 is no quantity of its own"),
        (Instance(C_1, dist2_1, START[1:]), "nothing stands for drift_0"),
        (Instance(C_1, y, START), "y is taken 0 rounds after its start, and the bound is for 1"),
        (Instance(C_1, k, START), "after how many rounds k is taken is not given"),
        (Instance(C_2, dist2_1, GAP), "dist2_1 is taken 1 rounds after its start, and the bound is for 0"),
        (Instance(C_1, dist2_1, (("drift_0", dist2_1), *START[1:])), "is taken after"),
    ],
)
def test_values_of_a_run_stand_for_themselves(rule, why):
    found = cited(rule)
    assert found.status is Status.UNDECIDED
    assert why in found.note


def test_no_average_or_index_or_other_kind_is_taken_for_a_value():
    for name in ("scgd/theorem_3_3/corrected", "fedshuffle/lemma_b_5/as_printed"):
        images = tuple((s.name, y) for s in statement(name).symbols)
        found = cited(Instance(name, y, images), claim=sp.Le(y, 1))
        assert found.status is Status.UNDECIDED
        assert "not an upper bound on one value" in found.note


def test_a_general_lemma_needs_all_its_terms_and_integers():
    fixed = "fedshuffle/lemma_b_3/fixed_step"
    own = {s.name: s.expr for s in statement(fixed).symbols}
    about = statement("fedshuffle/lemma_b_3/as_printed")
    d0, c1, c2, K, eta_max = (own.get(name, sp.Symbol(name, real=True)) for name in ("d0", "c1", "c2", "K", "eta_max"))
    whole = (("d0", d0), ("c1", c1), ("c2", c2), ("K", K), ("eta", eta_max))
    assert cited(Instance(fixed, y, whole), about=about, facts=()).status is Status.PROVED
    assert "nothing stands for its eta" in cited(Instance(fixed, y, whole[:-1]), about=about, facts=()).note
    half = (*whole[:3], ("K", K / 2), whole[-1])
    assert "is an integer is not known" in cited(Instance(fixed, y, half), about=about, facts=()).note
    negative = (*whole[:3], ("K", -K), whole[-1])
    assert cited(Instance(fixed, y, negative), about=about, facts=()).status is Status.UNDECIDED
    with pytest.raises(UnknownName):
        cited(Instance(fixed, y, (*whole, ("c3", c1))), about=about, facts=())


def test_what_is_presumed_is_listed():
    trusted = [x.claim for x in derivation("fedshuffle/lemma_e_3/raw").trusted()]
    assert any("clients is client_grad2_0 of fedshuffle/movement_of_a_round" in x for x in trusted)
    assert any("moved is what fedshuffle/movement_of_a_round" in x for x in trusted)
    general = [x.claim for x in derivation("fedshuffle/lemma_b_3/as_printed").trusted()]
    assert any(x.startswith("for these terms: d_0 = d0, all d_r >= 0") for x in general)


# roots of any degree


def test_cube_roots():
    known = {"y": y >= 0, "k": k >= 0, "n": n > 0}
    root = sp.cbrt(y)
    assert decide(sp.Le(sp.cbrt(y * k), (2 * sp.cbrt(y) ** 2 + sp.cbrt(k) ** 2)), known | {"k": k <= 0, "k0": k >= 0}) \
        .status is Status.PROVED  # fmt: skip
    assert decide(root**2 * root >= y, known).status is Status.PROVED
    assert decide(root <= 1 + y, known).status is Status.PROVED
    assert decide(sp.Le(sp.cbrt(y / n), 1), known | {"small": y <= n}).status is Status.PROVED
    for false in (root <= y, root >= y, sp.Le(root, sp.sqrt(y)), sp.Le(root**2, y), sp.Ge(sp.root(y, 5), y / 2)):
        found = decide(false, known)
        assert found.status is Status.REFUTED
        assert holds(false, {name: Fraction(text) for name, text in found.witness.items()}) is False
    assert holds(sp.Eq(sp.root(y, 3), sp.Rational(2, 5)), {"y": Fraction(8, 125)}) is True
    assert holds(sp.Le(sp.root(y, 5), sp.Rational(14757, 10000)), {"y": Fraction(7)}) is False
    assert holds(sp.Le(sp.root(y, 5), sp.Rational(14758, 10000)), {"y": Fraction(7)}) is True  # 7^(1/5) = 1.4757


def test_the_root_of_a_number_that_may_be_negative_has_no_value():
    for degree in (3, 4, 5):
        claim = sp.Le(sp.root(y, degree) - sp.root(y, degree) / 2, 1 + sp.Abs(y), evaluate=False)
        assert decide(claim, {}).status is not Status.PROVED


# equations as conclusions


def test_an_inequality_does_not_prove_an_equality():
    lemma = statement("fedshuffle/lemma_b_5/as_printed")
    about = replace(lemma, bound=n + k, symbols=lemma.symbols[:2], metric=Metric("sampling_variance", None))
    facts = (Fact("metric", sp.And(y**2 <= n**2 + 2 * n * k + k**2, sp.Ge(y, 0)), "metric", ""),)
    uses = ("metric", "domain n", "domain k")
    for kind, status in ((sp.Le, Status.PROVED), (sp.Eq, Status.REFUTED)):
        step = Step("it", kind(y, n + k, evaluate=False), uses, Decide(), "")
        report = Derivation(about, (*scope_facts(about), *facts), (step,), "it", y).examine()
        assert report.results[0].status is status
        assert report.bound_matches is (kind is sp.Eq)
        assert report.status is not Status.PROVED
        if kind is sp.Le:
            assert "is not an equation" in report.remarks[0]


def test_an_equation_is_no_upper_bound():
    about = statement("fedshuffle/lemma_b_6")
    step = Step("it", sp.Eq(y, about.bound, evaluate=False), (), Decide(), "")
    report = Derivation(about, scope_facts(about), (step,), "it", y).examine()
    assert not report.bound_matches
    assert "is not an upper bound" in report.remarks[0]


@pytest.mark.parametrize("turned", [False, True])
def test_an_equation_that_is_assumed_is_not_proved(turned):
    about = statement("fedshuffle/lemma_b_5/as_printed")
    sides = (about.bound - y, 0) if turned else (y - about.bound, 0)
    fact = Fact("it is so", sp.Eq(*sides, evaluate=False), "metric", "")
    step = Step("it", sp.Eq(y, about.bound), ("it is so",), Combine(), "")
    with pytest.raises(BadInput):
        Derivation(about, (*scope_facts(about), fact), (step,), "it", y)
