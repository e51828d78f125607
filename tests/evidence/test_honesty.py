"""The kit of claims by which the kernel is tested, and mutants of derivations."""

from __future__ import annotations

import random
from collections import Counter
from importlib.resources import files
from statistics import median

import pytest
import sympy as sp

from boundcheck.cli import main
from boundcheck.evidence.honesty.changes import CONSTANT, EXPONENT, HYPOTHESIS, SHIFT, SIGN, changes
from boundcheck.evidence.honesty.kit import (
    CONTRADICTORY,
    FALSE,
    TRUE,
    contradictory_claims,
    decide_all,
    false_claims,
    false_text,
    kit,
    true_claims,
)
from boundcheck.evidence.honesty.mutants import FAILS, SLACK, mutants, outcome
from boundcheck.evidence.honesty.points import refuted, search
from boundcheck.proof.discovery import derivation
from boundcheck.proof.vectors import VectorEquality, norm2, vector


def nothing(_):
    """Progress that nobody looks at."""


def test_true_claims_survive_random_points():
    claims = true_claims()
    assert len(claims) >= 150
    assert len({c.name for c in claims}) == len(claims)
    for claim in claims[::4]:
        assert search(claim.claim, list(claim.given.values()), random.Random(7), 20) is None, claim.text()


def test_each_false_claim_has_an_exact_counterexample():
    claims = false_claims()
    assert len(claims) == 150
    assert set(Counter(c.change for c in claims)) == {CONSTANT, EXPONENT, SIGN, SHIFT, HYPOTHESIS, "direction"}
    for claim in claims:
        assert refuted(claim.claim, list(claim.given.values()), claim.counterexample), claim.text()


@pytest.mark.slow  # 20 s: counterexamples of all changed claims are searched
def test_the_false_claims_are_those_that_the_search_gives():
    assert files("boundcheck.evidence.honesty").joinpath("kit_false.json").read_text() == false_text()


def check(decisions):
    assert [d.claim.text() for d in decisions if d.wrong] == []
    assert sum(d.right for d in decisions) >= 0.95 * len(decisions)
    assert median(d.seconds for d in decisions) < 0.1


def test_a_fifth_of_the_kit_is_decided_rightly():
    decisions = decide_all(kit()[::5], nothing)
    assert {d.claim.truth for d in decisions} == {TRUE, FALSE, CONTRADICTORY}
    assert [d.claim.text() for d in decisions if d.wrong] == []
    assert sum(d.right for d in decisions) >= 0.9 * len(decisions)


@pytest.mark.slow  # 5 s of processor time
def test_the_whole_kit_is_decided_rightly():
    decisions = decide_all(kit(), nothing)
    assert len(contradictory_claims()) == 30
    check(decisions)


def test_changes_of_a_proposition():
    m, t = sp.symbols("m t", real=True)
    r = vector("r", m)
    found = list(changes(sp.Le(3 * norm2(r), t**2 - 5, evaluate=False)))
    after = {(kind, str(claim)) for kind, claim in found}
    assert (CONSTANT, "303*Inner(r(m), r(m))/100 <= t**2 - 5") in after
    assert (EXPONENT, "3*Inner(r(m), r(m)) <= t**3 - 5") in after
    assert (SIGN, "3*Inner(r(m), r(m)) <= t**2 + 5") in after
    assert (SHIFT, "3*Inner(r(m), r(m + 1)) <= t**2 - 5") in after
    assert {kind for kind, _ in changes(VectorEquality(r, vector("u") * 2))} == {CONSTANT, SIGN, SHIFT}


def test_mutants_of_a_derivation_fail_or_are_explained():
    proof = derivation("fedshuffle/theorem_5_2/corrected")
    every = list(mutants(proof))
    changed = [m for m in every if m.name == "step case" and m.kind != HYPOTHESIS]
    assert {m.kind for m in changed} == {CONSTANT, SIGN, SHIFT}
    assert {outcome(proof, m, 2.0).reason for m in changed if m.kind == CONSTANT} == {FAILS}
    dropped = {(m.name, m.taken): m for m in every if m.kind == HYPOTHESIS}
    assert outcome(proof, dropped["deviation", "by weight"], 2.0).reason == FAILS
    same = next(m for m in every if m.name == "nothing" and m.kind == CONSTANT)  # 101/100 of p(0) is 0 as well
    assert outcome(proof, same, 2.0).reason == SLACK


def test_the_command_takes_nothing_else(capsys):
    for words in (["--honesty", "--all"], ["--honesty", "scgd/lemma_3_1/corrected"], ["--mutants", "soon"]):
        assert main(["derive", *words]) == 2
    assert "--honesty and --mutants are given alone" in capsys.readouterr().err
