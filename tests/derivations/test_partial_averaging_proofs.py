"""The derivations of partial model averaging: what is found, and that a change of them is noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation, DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.methods import Combine
from boundcheck.proof.step import Finding, Status, Step

F = Fraction
PAPER = "partial_averaging/"
PROVED = (
    *("step_condition/factored", "step_condition/as_printed", "one_minus_a/corrected", "one_minus_a/sharp"),
    *("lemma_1/corrected", "remark_2_speedup/as_printed", "remark_4_speedup/corrected"),
)
REFUTED = ("one_minus_a/as_printed", "remark_4_speedup/as_printed")
t, Lmax, tau, m, A, inverse = sp.symbols("t Lmax tau m A inverse", real=True)


CHECKED = tuple(PAPER + name for name in (*PROVED, *REFUTED))


def report(name: str) -> DerivationReport:
    return fresh(PAPER + name)


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes: object) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)  # type: ignore[arg-type]
    return replace(original, steps=steps).check_step(name, 1)


def numbers(name: str) -> dict[str, Fraction]:
    return {symbol: F(text) for symbol, text in report(name).result("conclusion").finding.witness.items()}


def test_the_step_condition_by_numbers() -> None:
    """Lmax^2 eta^2 tau (tau - 1) + eta Lmax <= 1 exactly when eta Lmax tau <= 1, on a grid that has the limit on it."""
    for interval in range(1, 9):
        for n in range(4 * interval + 1):
            e = F(n, 2 * interval)
            assert (e**2 * interval * (interval - 1) + e <= 1) is (e * interval <= 1)


def test_both_directions_of_the_step_condition_are_steps() -> None:
    original = derivation("partial_averaging/step_condition/factored")
    forth, back = (step(original, name).claim for name in ("necessary", "sufficient"))
    assert forth.args == back.args[::-1]
    quadratic = sp.Le(Lmax**2 * t**2 * tau * (tau - 1) + t * Lmax, 1)
    assert forth.args == (quadratic, sp.Le(t * Lmax * tau, 1))


@pytest.mark.parametrize("which", ["necessary", "sufficient"])
def test_another_limit_of_the_step_is_refuted(which: str) -> None:
    """9/10 of the limit is not necessary, 11/10 of it is not enough."""
    original = derivation("partial_averaging/step_condition/factored")
    supposed, wanted = step(original, which).claim.args
    limit = sp.Rational(9, 10) if which == "necessary" else sp.Rational(11, 10)
    other = sp.Le(t * Lmax * tau, limit)
    claim = sp.Implies(supposed, other) if which == "necessary" else sp.Implies(other, wanted)
    uses = ("factors", "second factor", "t", "domain Lmax", "domain tau")
    assert changed(original, which, claim=claim, uses=uses).status is Status.REFUTED


def test_a_tighter_bound_of_the_inverse_is_refuted() -> None:
    original = derivation("partial_averaging/one_minus_a/corrected")
    claim = sp.Le(inverse, sp.Rational(149, 100), evaluate=False)
    assert changed(original, "conclusion", claim=claim).status is Status.REFUTED
    less = sp.Le(A * sp.Symbol("beta2", real=True) / (1 - A), sp.Rational(49, 100), evaluate=False)
    assert changed(original, "half", claim=less).status is Status.REFUTED


def test_another_threshold_is_refuted() -> None:
    original = derivation("partial_averaging/remark_2_speedup/as_printed")
    claim = step(original, "enough").claim
    sooner = sp.Implies(t > m**3 / 2, claim.args[1])
    assert changed(original, "enough", claim=sooner).status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("step_condition/factored", "conclusion", "largest"),
        ("one_minus_a/corrected", "half", "condition A small"),
        ("one_minus_a/corrected", "before rounding", "inverse"),
        ("one_minus_a/corrected", "conclusion", "before rounding"),
        ("lemma_1/corrected", "(30)", "square"),
        ("lemma_1/corrected", "step", "weights"),
        ("lemma_1/corrected", "(30)", "smooth"),
        ("lemma_1/corrected", "decrease", "condition step size"),
        ("lemma_1/corrected", "decrease", "unbiased"),
        ("lemma_1/corrected", "decrease", "step"),
        ("lemma_1/corrected", "conclusion", "bounded"),
        ("remark_2_speedup/as_printed", "conclusion", "threshold"),
    ],
)
def test_a_step_needs_what_it_uses(name: str, which: str, unused: str) -> None:
    original = derivation(PAPER + name)
    found = step(original, which)
    assert unused in found.uses
    by = found.by
    if isinstance(by, Combine) and unused in by.multipliers:
        by = Combine({k: v for k, v in by.multipliers.items() if k != unused})
    uses = tuple(u for u in found.uses if u != unused)
    if name == "one_minus_a/corrected" and which == "conclusion":  # what it rests on is among the others too
        uses = tuple(u for u in uses if not u.startswith("condition"))
    assert changed(original, which, uses=uses, by=by).status is not Status.PROVED


@pytest.mark.parametrize("which", ["(22)", "decrease", "conclusion"])
def test_a_smaller_noise_or_discrepancy_in_lemma_1_is_noticed(which: str) -> None:
    original = derivation("partial_averaging/lemma_1/corrected")
    claim = step(original, which).claim
    eta, sum_p2, noise = sp.symbols("eta sum_p2 sum_L_sigma2", real=True)
    r = sp.Symbol("r", real=True)
    apart = sp.Function("apart", real=True)(r)
    if which == "(22)":
        mutated = sp.Ge(claim.lhs, claim.rhs + apart / 100, evaluate=False)
    else:
        mutated = sp.Le(claim.lhs, claim.rhs - eta**2 * sum_p2 * noise / 100, evaluate=False)
    assert changed(original, which, claim=mutated).status is not Status.PROVED
