"""The proof of Lemma 3.1 of SCGD in its readings: what is found, and that a change of it is noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation
from boundcheck.proof.discovery import derivation, derived_readings
from boundcheck.proof.step import Status

F = Fraction
ID = "scgd/lemma_3_1/"
mu, L, P, s, S, eta, sigma2, dist2_0 = (
    sp.Symbol(n, real=True) for n in ["mu", "L", "P", "s", "S", "eta", "sigma2", "dist2_0"]
)


CHECKED = tuple(
    ID + reading for reading in ("corrected", "conservative", "sharp", "as_printed_main", "as_printed_appendix")
)


def report(reading):
    return fresh(ID + reading)


def refuted(reading):
    return [r for r in report(reading).results if r.status is Status.REFUTED]


def inside(m, el, step, *, main=False):
    """step <= min(1/(2L), sqrt(m^2/(24L^4) + q) - a*m), with q = (a*m)^2, or a^2 as in equation (2)."""
    a = (4 * el**2 - m**2) / (16 * el**4)
    square = m**2 / (24 * el**4) + (a**2 if main else (a * m) ** 2)
    return step <= 1 / (2 * el) and step + a * m >= 0 and (step + a * m) ** 2 <= square


def numbers(result):
    return {name: F(text) for name, text in result.finding.witness.items()}


def test_readings_share_the_chain_up_to_the_display():
    chains = {r: derivation(ID + r).steps for r in derived_readings("scgd", "lemma_3_1")}
    assert set(chains) == {"corrected", "conservative", "sharp", "as_printed_main", "as_printed_appendix"}
    shared = [{st.name for st in steps} for steps in chains.values()]
    common = set.intersection(*shared)
    assert {"E0.4", "E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8", "E9", "E13"} <= common
    for name in ("E8", "E9"):
        claims = {next(st.claim for st in steps if st.name == name) for steps in chains.values()}
        assert len(claims) == 1


# mutations: one constant of one step is changed, and that step is no longer proved


def changed(original: Derivation, name: str, change) -> Derivation:
    step = next(st for st in original.steps if st.name == name)
    claim = change(step.claim)
    assert claim != step.claim
    steps = tuple(replace(st, claim=claim) if st.name == name else st for st in original.steps)
    return replace(original, steps=steps)


def smaller_right_side(term, factor):
    """The summand `term` of the larger side times `factor` < 1."""
    return lambda claim: claim.func(claim.lhs, claim.rhs - (1 - factor) * term, evaluate=False)


nearly = sp.Rational(99, 100)
MUTATIONS = {
    "E3": (smaller_right_side(2 * eta / mu * sp.Symbol("T2", real=True), nearly), Status.REFUTED),
    "E4": (smaller_right_side(L**2 * s**2 * dist2_0, nearly), Status.UNDECIDED),
    "E5": (smaller_right_side(L**2 * P**2 / 2 * S, nearly), Status.UNDECIDED),
    "E7": (smaller_right_side(2 * eta**2 * P * sigma2, nearly), Status.REFUTED),
    "E8": (lambda c: c.func(c.lhs, c.rhs * nearly, evaluate=False), Status.REFUTED),
    "E9": (smaller_right_side(4 * L**4 * s**3 / mu * dist2_0, nearly), Status.REFUTED),
    "E10": (lambda c: sp.Eq(c.lhs, c.rhs + s**2, evaluate=False), Status.REFUTED),
    "E11.1": (smaller_right_side(2 * L**2 * s**2, nearly), Status.REFUTED),
    "E11.2": (lambda c: c.func(c.lhs, c.rhs * nearly, evaluate=False), Status.REFUTED),
    "E11 noise": (lambda c: c.func(c.lhs, c.rhs * nearly, evaluate=False), Status.REFUTED),
    "E12.1": (lambda c: c.func(c.lhs + L**4 * s**3 / (1000 * mu), c.rhs, evaluate=False), Status.REFUTED),
    "requirement 2": (lambda c: c.func(c.lhs, c.rhs * 2, evaluate=False), Status.REFUTED),
    "requirement 3": (lambda c: c.func(c.lhs + L**4 * s**3 / (1000 * mu), c.rhs, evaluate=False), Status.REFUTED),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_constant_is_noticed(name):
    change, status = MUTATIONS[name]
    original = derivation(ID + "conservative")
    assert original.check_step(name).status is Status.PROVED
    found = changed(original, name, change).check_step(name)
    assert found.status is status


@pytest.mark.parametrize(
    ("name", "unused"),
    [
        ("E2", "requirement 1"),
        ("E4", "minimum at x"),
        ("E5", "E5.5"),
        ("E8", "requirement 2"),
        ("E11.2", "requirement 2"),
        ("E12", "E12.1"),
        ("requirement 3", "s <= C"),
        ("gradient of F", "cycle"),
    ],
)
def test_a_step_needs_what_it_uses(name, unused):
    original = derivation(ID + "conservative")
    step = next(st for st in original.steps if st.name == name)
    assert unused in step.uses
    less = replace(step, uses=tuple(u for u in step.uses if u != unused))
    mutated = replace(original, steps=tuple(less if st is step else st for st in original.steps))
    assert mutated.check_step(name).status is not Status.PROVED


@pytest.mark.parametrize(("factor", "status"), [(sp.Rational(4, 3), Status.PROVED), (sp.Integer(2), Status.REFUTED)])
def test_the_repaired_step_stops_at_some_larger_constant(factor, status):
    """The bracket of E9 is small enough up to 1.41 to 1.57 times C (by mu/L), not up to twice C."""
    original = derivation(ID + "corrected")
    step = next(st for st in original.steps if st.name == "s <= C")
    wider = replace(step, claim=sp.Le(s, factor * step.claim.rhs.args[1], evaluate=False))
    larger = [sp.Le(s, factor * part) for part in step.claim.rhs.args]
    wider = replace(step, claim=sp.And(*larger))
    mutated = replace(original, steps=tuple(wider if st is step else st for st in original.steps))
    assert mutated.check_step("E11'").status is status


def test_a_bound_that_the_steps_do_not_reach_is_not_proved():
    original = derivation(ID + "corrected")
    tighter = replace(original.statement, bound=original.statement.bound - sigma2 / 1000)
    found = replace(original, statement=tighter).examine()
    assert found.status is Status.UNDECIDED
    assert not found.bound_matches
    assert any("differs from the statement's" in remark for remark in found.remarks)
