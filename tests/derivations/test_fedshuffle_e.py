"""Appendix E of FedShuffle: Lemmas E.3 and E.4 and Theorem E.1 from laws, and the steps where the print slips."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import sympy as sp

from boundcheck.errors import BadInput
from boundcheck.proof.cited import as_strong
from boundcheck.proof.derivation import DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Finding, Status

PAPER = "fedshuffle/"
# cited by the theorems, so that these are proved only where those are
CITED = (
    *("drift_of_a_visit/corrected", "gradient_of_a_visit/corrected", "progress_of_a_visit/corrected"),
    *("drift_of_a_round_gen/corrected", "movement_of_a_round_gen/corrected", "lemma_e_3/raw"),
    *("recursion_convex_gen/sharp", "recursion_nonconvex_gen/sharp"),
)
THEOREMS = tuple(
    f"theorem_e_1_{case}/{r}" for case in ("convex", "strongly_convex", "nonconvex") for r in ("corrected", "sharp")
)
PROVED = (*THEOREMS, "lemma_e_3/corrected", "lemma_e_4/corrected", "lemma_e_4/sharp")
NEEDED = ("needs effective step size", "needs B at least 1", "rounding")
REFUTED = {
    "lemma_e_3/as_printed": ("step 1", "step 2"),
    "lemma_e_4/as_printed": ("rounding",),
    "theorem_e_1_convex/as_printed": NEEDED,
    "theorem_e_1_nonconvex/as_printed": NEEDED,
}


@cache
def report(name: str) -> DerivationReport:
    return derivation(PAPER + name).examine()


def step(name, which):
    return next(s for s in derivation(PAPER + name).steps if s.name == which)


def changed(name, which, **changes):
    proof = derivation(PAPER + name)
    return replace(proof, steps=tuple(replace(s, **changes) if s.name == which else s for s in proof.steps))


@pytest.mark.parametrize("name", PROVED)
def test_true_readings_are_proved_step_by_step(name):
    found = report(name)
    assert found.status is Status.PROVED
    assert found.bound_matches
    assert all(r.status is Status.PROVED and r.depends_on == () for r in found.results)
    assert set(found.conditions) == {f"condition {c.name}" for c in derivation(PAPER + name).statement.conditions}


@pytest.mark.parametrize("name", CITED)
def test_what_the_theorems_rest_on_is_proved(name):
    held = as_strong(Finding(Status.PROVED, ""), derivation(PAPER + name), 10.0, "cited")
    assert held.status is Status.PROVED


@pytest.mark.parametrize("name", REFUTED)
def test_printed_readings_fail_where_the_print_slips(name):
    found = report(name)
    assert found.status is Status.REFUTED
    assert tuple(r.step.name for r in found.results if r.status is not Status.PROVED) == REFUTED[name]
    assert found.result("conclusion").depends_on == REFUTED[name]


def test_no_expectation_is_transcribed():
    """Unbiased cohorts, whole epochs and means over the clients are laws; what is written says what symbols are."""
    names = {
        "drift_of_a_visit/corrected": {"local step", "divisor", "start"},
        "gradient_of_a_visit/corrected": set(),
        "progress_of_a_visit/corrected": set(),
        "movement_of_a_round_gen/corrected": {"participation"},
        "lemma_e_3/raw": {"round"},
        "recursion_convex_gen/sharp": set(),
        "recursion_nonconvex_gen/sharp": set(),
    }
    for name, written in names.items():
        facts = derivation(PAPER + name).facts
        assert {f.name for f in facts if f.kind == "algorithm"} == written
        assert all(f.instance is not None for f in facts if f.kind == "assumption")


L, eta_l, Q, N = (sp.Symbol(n, real=True) for n in ("L", "eta_l", "Q", "N"))
SMALLER = [
    ("drift_of_a_visit/corrected", "3"),
    ("drift_of_a_visit/corrected", "4.1"),
    ("drift_of_a_visit/corrected", "4.8"),
    ("drift_of_a_visit/corrected", "7"),
    ("drift_of_a_visit/corrected", "conclusion"),
    ("gradient_of_a_visit/corrected", "conclusion"),
    ("progress_of_a_visit/corrected", "conclusion"),
    ("movement_of_a_round_gen/corrected", "2.2"),
    ("movement_of_a_round_gen/corrected", "4.2"),
    ("movement_of_a_round_gen/corrected", "conclusion"),
    ("lemma_e_4/sharp", "sharp"),
    ("recursion_convex_gen/sharp", "cohort"),
    ("recursion_nonconvex_gen/sharp", "1.3"),
]


@pytest.mark.parametrize(("name", "which"), SMALLER)
def test_a_smaller_right_side_is_noticed(name, which):
    claim = step(name, which).claim
    less = claim.func(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
    assert changed(name, which, claim=less).check_step(which, 3).status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("drift_of_a_visit/corrected", "T step", "divisor"),
        ("drift_of_a_visit/corrected", "4.8", "noise"),
        ("drift_of_a_visit/corrected", "4.8", "share"),
        ("gradient_of_a_visit/corrected", "conclusion", "whole epochs"),
        ("progress_of_a_visit/corrected", "1", "convex"),
        ("progress_of_a_visit/corrected", "conclusion", "every sample"),
        ("movement_of_a_round_gen/corrected", "2.2", "2.1"),
        ("movement_of_a_round_gen/corrected", "4", "participation"),
        ("lemma_e_3/raw", "2", "1"),
        ("lemma_e_3/raw", "display", "A3.3"),
        ("lemma_e_3/corrected", "step 2", "condition B at least 1"),
        ("recursion_convex_gen/sharp", "own", "condition B at least 1"),
        ("recursion_nonconvex_gen/sharp", "3", "descent"),
        ("theorem_e_1_convex/sharp", "conclusion", "last"),
        ("theorem_e_1_strongly_convex/corrected", "terms", "left"),
    ],
)
def test_a_step_needs_what_it_uses(name, which, unused):
    own = step(name, which)
    assert unused in own.uses
    fewer = changed(name, which, uses=tuple(u for u in own.uses if u != unused))
    try:
        found = fewer.check_step(which, 3).status
    except BadInput:  # the multiplier of a fact that is not used
        return
    assert found is not Status.PROVED


def test_a_cohort_of_another_mean_is_no_proof():
    """Where the server adds up twice the clients' mean, the round is not the printed one."""
    proof = derivation(PAPER + "lemma_e_3/raw")
    client, cohort = proof.laws
    ((sent, mean),) = cohort.drawn
    doubled = replace(proof, laws=(client, replace(cohort, drawn=((sent, mean * 2),))))
    assert proof.check_step("5").status is Status.PROVED
    assert doubled.check_step("5").status is not Status.PROVED


def test_a_client_drawn_with_other_weights_is_no_proof():
    proof = derivation(PAPER + "movement_of_a_round_gen/corrected")
    client, cohort = proof.laws
    (first, (own, slope)) = client.drawn
    other = replace(proof, laws=(replace(client, drawn=(first, (own, slope * 2))), cohort))
    assert proof.check_step("2.2").status is Status.PROVED
    assert other.check_step("2.2").status is not Status.PROVED
