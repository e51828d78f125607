"""FedShuffle as a case of FedShuffleGen: the same runs, and what is no case."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sympy as sp

from boundcheck.engines.run import run
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem
from boundcheck.proof.derivation import scope_facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.specialised import Specialised
from boundcheck.proof.step import Status
from boundcheck.theory.assumptions import data_weights

MOVEMENT = derivation("fedshuffle/movement_of_a_round/corrected")
(CASE,) = MOVEMENT.steps
E, eta_l = sp.symbols("E eta_l", real=True)


def found(proof=MOVEMENT, by=CASE.by, claim=CASE.claim):
    facts = {f.name: f.claim for f in scope_facts(proof.statement)}
    return by.check(claim, {name: facts[name] for name in CASE.uses}, proof._setting(3.0))


def test_the_values_of_the_case_are_put_in():
    assert found().status is Status.PROVED
    general = sp.Le(CASE.claim.lhs, CASE.claim.rhs.subs(E, 1), evaluate=False)
    assert "the claim is not what the rule gives" in found(claim=general).note
    assert any("q_i^S = p_i" in t.claim and t.kind == "presumed" for t in MOVEMENT.trusted())


@pytest.mark.parametrize("participation", ["full", {"kind": "uniform", "size": 2}])
def test_runs_of_the_case_are_runs_of_the_general_method(participation):
    """The local step eta_l/|D_i| of Section 5 is E eta_l/(E |D_i|) of Appendix E."""
    own = {"eta_g": 2, "E": 3, "participation": participation}
    methods = ({"kind": "fedshuffle", "eta_l": "1/24", **own}, {"kind": "fedshuffle_gen", "eta_l": "1/8", **own})
    curves = [
        run(build_method(m), build_problem({"kind": "fedshuffle_36"}), rounds=[0, 1, 5], metrics=["gap"])
        for m in methods
    ]
    assert list(curves[0].values["gap"]) == pytest.approx(list(curves[1].values["gap"]), rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"assumptions": ()}, "assumes smooth_samples, followed_objective besides|assumes .* besides"),
        ({"assumptions": (MOVEMENT.statement.assumptions[0],)}, "followed_objective|data_weights"),
        ({"algorithm": replace(MOVEMENT.statement.algorithm, kind="fedavg")}, "not about a special case"),
        ({"metric": replace(MOVEMENT.statement.metric, surrogate=True)}, "must be about the surrogate objective"),
    ],
)
def test_another_statement_is_no_case(changes, note):
    assert data_weights in MOVEMENT.statement.assumptions
    setting = replace(MOVEMENT._setting(3.0), statement=replace(MOVEMENT.statement, **changes))
    facts = {f.name: f.claim for f in scope_facts(MOVEMENT.statement)}
    result = CASE.by.check(CASE.claim, {name: facts[name] for name in CASE.uses}, setting)
    assert result.status is Status.UNDECIDED
    assert re.search(note, result.note)


def test_images_are_for_values_at_the_start_only():
    x = sp.Symbol("x", real=True)
    cited = CASE.by.statement
    for images, note in (
        (CASE.by.images[:-1], "must have an image where it is a value at the start"),
        ((*CASE.by.images, ("L", x)), "must have an image where it is a value at the start"),
        ((*CASE.by.images[:-1], ("grad2_0", x)), "has no other image"),
    ):
        rule = Specialised(cited, CASE.by.metric, images)
        assert note in found(by=rule, claim=rule.instance({})).note
    rule = Specialised("fedshuffle/lemma_c_1/raw", CASE.by.metric, CASE.by.images[:1])
    assert "is not about a special case of the method" in found(by=rule).note
