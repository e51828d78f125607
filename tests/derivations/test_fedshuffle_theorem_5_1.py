"""Theorem 5.1 of FedShuffle: proved where it is corrected or sharp, refuted at named steps where it is printed."""

from __future__ import annotations

import sympy as sp

from boundcheck.proof.citations import Lemma
from boundcheck.proof.derivation import _facts
from boundcheck.proof.discovery import derivation
from boundcheck.proof.step import Status

PAPER = "fedshuffle/theorem_5_1_"
CASES = ("convex", "strongly_convex", "nonconvex")
PROVED = tuple(f"{PAPER}{case}/{reading}" for case in CASES for reading in ("corrected", "sharp"))
REFUTED = (f"{PAPER}convex/as_printed", f"{PAPER}nonconvex/as_printed")
CHECKED = (*PROVED, *REFUTED)


def _recursion(name, **changes):
    """What citing the recursion comes to where the step of the convex theorem is changed."""
    proof = derivation(name)
    setting = proof._setting(10.0)
    step = next(s for s in proof.steps if isinstance(s.by, Lemma))
    known = {f.name: f.claim for f in proof.facts}
    by = Lemma(
        **{"statement": step.by.statement, "metric": step.by.metric, "means": step.by.means, "at": step.by.at} | changes
    )
    claim = step.claim if not changes else by.instance({})
    return by.check(claim, _facts(known, step.uses), setting)


def test_convexity_serves_at_mu_0_only():
    name = f"{PAPER}convex/corrected"
    assert _recursion(name).status is Status.PROVED
    for at in ({}, {"mu": sp.Rational(1, 2)}, {"mu": sp.Integer(-1)}):
        assert _recursion(name, at=at).status is Status.UNDECIDED


def test_no_value_of_the_run_or_the_method_is_set():
    name = f"{PAPER}convex/corrected"
    for at in ({"mu": 0, "eta_l": 0}, {"mu": 0, "gap_0": 0}):
        assert "no constant of the problem" in _recursion(name, at=at).note
