"""The derivations of the asynchronous paper: what is found, and that a change of them is noticed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation, DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.methods import Combine
from boundcheck.proof.step import Finding, Status, Step

F = Fraction
PAPER = "async_fl/"
PROVED = (
    *("lemma_1/corrected", "lemma_1/as_printed", "equation_96/corrected", "equation_97_constraints/corrected"),
    *("equation_97_constraints/as_printed", "equation_98_constraints/corrected"),
)
WITH_BETA = ("delays", "movement", "contraction")
alpha, beta, rho = sp.symbols("alpha beta rho", real=True)


CHECKED = tuple(PAPER + name for name in (*PROVED, "equation_98_constraints/as_printed"))


def report(name: str) -> DerivationReport:
    return fresh(PAPER + name)


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes: object) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)  # type: ignore[arg-type]
    return replace(original, steps=steps).check_step(name, 1)


# Lemma 1


def test_lemma_1_needs_different_clients_only() -> None:
    original = derivation("async_fl/lemma_1/corrected")
    covariance = next(f for f in original.facts if f.name == "covariance")
    i, j = sp.symbols("i j", real=True)
    before = next(f.claim for f in original.facts if f.name == "index j")
    assert set(before.args) == {j >= 0, j <= i - 1}
    assert covariance.assumption == "covariance_of_weights"


def test_lemma_1_by_exact_enumeration() -> None:
    """Three clients, all eight cohorts of independent coins: E w_i w_j = q_i q_j for i != j, so alpha = 1."""
    chance, weight, x = (F(1, 2), F(1, 3), F(3, 4)), (F(2), F(1), F(5, 3)), (F(1), F(-2), F(3))
    second = F(0)
    for cohort in product((0, 1), repeat=3):
        p = F(1)
        for c, q in zip(cohort, chance, strict=True):
            p *= q if c else 1 - q
        second += p * sum((c * w * v for c, w, v in zip(cohort, weight, x, strict=True)), F(0)) ** 2
    q = [c * w for c, w in zip(chance, weight, strict=True)]
    own = sum(((c * w**2 - m**2) * v**2 for c, w, m, v in zip(chance, weight, q, x, strict=True)), F(0))
    assert second == own + sum((m * v for m, v in zip(q, x, strict=True)), F(0)) ** 2
    values = {"own": own, "together": sum((m * v for m, v in zip(q, x, strict=True)), F(0)) ** 2, "alpha": 1}
    assert derivation("async_fl/lemma_1/corrected").statement.evaluate(**values).exact == second


@pytest.mark.parametrize(
    ("which", "unused"),
    [
        ("1.1", "covariance"),
        ("1.1", "Z(j+1)"),
        ("2.3", "1"),
        ("2.3", "o(i+1)"),
        ("conclusion", "3.2"),
    ],
)
def test_a_step_of_lemma_1_needs_what_it_uses(which: str, unused: str) -> None:
    original = derivation("async_fl/lemma_1/corrected")
    uses = step(original, which).uses
    assert unused in uses
    assert changed(original, which, uses=tuple(u for u in uses if u != unused)).status is not Status.PROVED


def test_another_factor_in_lemma_1_is_noticed() -> None:
    original = derivation("async_fl/lemma_1/corrected")
    together = sp.Symbol("together", real=True)
    claim = step(original, "conclusion").claim
    doubled = sp.Eq(claim.lhs, claim.rhs + alpha * together, evaluate=False)
    assert changed(original, "conclusion", claim=doubled).status is not Status.PROVED
    # a covariance without alpha is another property
    facts = tuple(
        replace(f, claim=sp.Eq(f.claim.lhs, f.claim.rhs / alpha, evaluate=False)) if f.name == "covariance" else f
        for f in original.facts
    )
    assert replace(original, facts=facts).check_step("1.1", 1).status is not Status.PROVED


# Appendix A.5


def numbers(name: str, which: str) -> dict[str, Fraction]:
    return {symbol: F(text) for symbol, text in report(name).result(which).finding.witness.items()}


def left(which: str, v: dict[str, Fraction], step_size: Fraction) -> Fraction:
    """The left side of a constraint, by the paper's formulas, the right side being 1."""
    work, t = (v["eta_l"] * (v["K"] - 1) * v["L"]) ** 2, (v["K"] * v["eta_g"] * v["eta_l"] * v["tau"] * v["L"]) ** 2
    s = step_size * v["L"]
    if which == "delays":
        return 24 * v["rho"] ** 2 * (v["alpha"] + v["beta"]) * t
    if which == "movement":
        return 3 * v["rho"] * (v["alpha"] + v["beta"]) * s
    return 24 * work + 12 * v["rho"] * (2 * v["alpha"] + v["beta"]) * (s + 16 * v["rho"] * t)


def test_the_limits_of_97_leave_no_room() -> None:
    """At rho = alpha = beta = 1 and equality in all of (97), c = 1/2 + 1/4 + 1/4."""
    assert F(24, 48) + 12 * 3 * (F(1, 144) + F(16, 2304)) == 1


def test_the_room_of_98() -> None:
    """y = 144 rho^2 h L <= 1/(tau + 1): beta = 9 rho leaves c below 1 for every delay, beta = 11 rho does not."""
    for tau in range(200):
        y = F(1, tau + 1)
        c = [F(24, 48**2) + 12 * (2 + b) * (y / 144 + F(16, 144**2) * (y * tau) ** 2) for b in (9, 11)]
        assert c[0] < 1
        assert tau or c[1] > 1


@pytest.mark.parametrize(
    ("name", "which"),
    [
        ("equation_97_constraints/corrected", "(97), 1"),
        ("equation_97_constraints/corrected", "contraction"),
        ("equation_97_constraints/corrected", "drift"),
        ("equation_98_constraints/corrected", "cap, 1"),
        ("equation_98_constraints/corrected", "cap, 2"),
    ],
)
def test_a_smaller_right_side_is_refuted(name: str, which: str) -> None:
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    last = claim.args[-1] if isinstance(claim, sp.And) else claim
    bound = next(c for c in (claim.args if isinstance(claim, sp.And) else (claim,)) if isinstance(c, sp.Le))
    assert last is not None
    factor = sp.Rational(1, 8) if which == "drift" else sp.Rational(9, 10)
    smaller = sp.Le(bound.lhs, bound.rhs * factor, evaluate=False)
    assert changed(original, which, claim=smaller).status is Status.REFUTED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("equation_97_constraints/corrected", "contraction", "condition beta"),
        ("equation_97_constraints/corrected", "contraction", "condition alpha"),
        ("equation_97_constraints/corrected", "contraction", "(97), 1"),
        ("equation_97_constraints/corrected", "movement", "condition beta"),
        ("equation_98_constraints/corrected", "contraction", "condition beta"),
        ("equation_98_constraints/corrected", "contraction", "room"),
        ("equation_98_constraints/corrected", "conclusion", "delays, alone"),
        ("equation_96/corrected", "(95)", "stationary"),
        ("equation_96/corrected", "(95)", "convex"),
        ("equation_96/corrected", "round", "normalised"),
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
    assert changed(original, which, uses=uses, by=by).status is not Status.PROVED


def test_96_without_the_smallest_weight_is_another_bound() -> None:
    original = derivation("async_fl/equation_96/corrected")
    q_min = sp.Symbol("q_min", real=True)
    claim = step(original, "conclusion").claim
    printed = sp.Le(claim.lhs, claim.rhs * q_min, evaluate=False)
    assert changed(original, "conclusion", claim=printed).status is not Status.PROVED
