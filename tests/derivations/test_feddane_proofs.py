"""The proofs of FedDANE's theorems: what is found, and that a change of them is noticed."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation, DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.methods import Combine
from boundcheck.proof.step import Finding, Status, Step

PAPER = "feddane/"
# the records, which another test holds fresh, tell of all readings
PROVED = (
    *("theorem_5/as_printed", "theorem_5/sharp_any_cohort", "theorem_5/sharp", "theorem_3/as_printed"),
    *("theorem_6/as_printed", "theorem_7/corrected", "one_device/corrected"),
)
L, mu, m, gamma, B2, grad2_0, gap_0, T, gap_1 = sp.symbols("L mu m gamma B2 grad2_0 gap_0 T gap_1", real=True)
HALF = sp.Rational(1, 2)


CHECKED = tuple(PAPER + name for name in PROVED)


def report(name: str) -> DerivationReport:
    return fresh(PAPER + name)


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes: object) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)  # type: ignore[arg-type]
    return replace(original, steps=steps).check_step(name, 1)


def test_theorem_3_is_theorem_5_without_curvature() -> None:
    three, five = (derivation(f"feddane/theorem_{n}/as_printed") for n in (3, 5))
    both = [
        [(s.name, s.claim, s.by, {*s.uses} - {"condition positive decrease"}) for s in d.steps] for d in (three, five)
    ]
    assert [a[0] for a, b in zip(*both, strict=True) if a != b] == ["m > 0", "(16)"]
    assert [a.name for a in three.facts if a.kind == "assumption" and a not in five.facts] == ["curvature"]


def test_theorem_5_does_not_presume_that_f_is_convex_or_that_the_cohorts_are_independent() -> None:
    used = {f.assumption for f in derivation("feddane/theorem_5/as_printed").facts if f.assumption}
    assert used == {
        *("smooth_clients", "lower_curvature", "inexact_solves"),
        *("unbiased_gradient_cohort", "dissimilarity_at_start"),
    }


MUTATIONS = [
    ("theorem_5/as_printed", "(16)", Status.REFUTED),
    ("theorem_5/as_printed", "length.1", Status.UNDECIDED),
    ("theorem_5/as_printed", "error.1", Status.UNDECIDED),
    ("theorem_5/as_printed", "change", Status.REFUTED),
    ("theorem_5/as_printed", "convex", Status.REFUTED),
    ("theorem_5/as_printed", "g.2", Status.REFUTED),
    ("theorem_5/as_printed", "(18)", Status.REFUTED),
    ("theorem_5/as_printed", "(10)", Status.REFUTED),
    ("theorem_5/sharp", "g.2", Status.REFUTED),
    ("theorem_3/as_printed", "(16)", Status.REFUTED),
    ("one_device/corrected", "length of v", Status.REFUTED),
    ("one_device/corrected", "change.1", Status.UNDECIDED),
    ("theorem_6/corrected", "conclusion", Status.REFUTED),
]


@pytest.mark.parametrize(("name", "which", "status"), MUTATIONS)
def test_a_smaller_right_side_is_noticed(name: str, which: str, status: Status) -> None:
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    assert isinstance(claim, sp.Le)
    smaller = sp.Le(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
    assert original.check_step(which, 1).status is Status.PROVED
    assert changed(original, which, claim=smaller).status is status


TERMS = [
    ("theorem_5/as_printed", "conclusion", L * grad2_0 / (mu * m) / 100),
    ("theorem_5/as_printed", "conclusion", gamma * grad2_0 / m / 100),
    ("theorem_5/as_printed", "conclusion", L * B2 * grad2_0 / m**2 / 100),
    ("theorem_5/as_printed", "conclusion", grad2_0 / mu / 100),
    ("theorem_5/as_printed", "pathwise", L * grad2_0 / (mu * m) / 100),
    ("theorem_5/sharp", "conclusion", L * grad2_0 / (mu * m) / 100),
    ("theorem_7/corrected", "conclusion", sp.Symbol("inv_mu", real=True) * grad2_0 / 100),
    ("theorem_7/corrected", "device", sp.Symbol("L_f", real=True) * grad2_0 / 100),
    ("theorem_6/corrected", "decrease", grad2_0),
    ("theorem_6/as_printed", "conclusion", gap_0 / T / 100),
]


@pytest.mark.parametrize(("name", "which", "less"), TERMS)
def test_a_changed_coefficient_is_noticed(name: str, which: str, less: sp.Expr) -> None:
    original = derivation(PAPER + name)
    claim = step(original, which).claim
    tighter = sp.Le(claim.lhs, claim.rhs - less, evaluate=False)
    assert changed(original, which, claim=tighter).status is not Status.PROVED


DROPPED = [
    ("theorem_5/as_printed", "m > 0", "condition proximal weight"),
    ("theorem_5/as_printed", "(16)", "curvature"),
    ("theorem_5/as_printed", "(16)", "optimality"),
    ("theorem_5/as_printed", "length.1", "error"),
    ("theorem_5/as_printed", "error", "inexact"),
    ("theorem_5/as_printed", "change", "smooth"),
    ("theorem_5/as_printed", "device", "optimality"),
    ("theorem_5/as_printed", "pathwise", "descent"),
    ("theorem_5/as_printed", "pathwise", "mean of S'_t"),
    ("theorem_5/as_printed", "pathwise", "convex"),
    ("theorem_5/as_printed", "g.2", "dissimilar"),
    ("theorem_5/as_printed", "g.2", "shares"),
    ("theorem_5/as_printed", "(18)", "E g"),
    ("theorem_5/as_printed", "conclusion", "E g"),
    ("theorem_5/sharp", "g.2", "variance"),
    ("theorem_5/sharp", "g.2", "E g, above"),
    ("theorem_3/as_printed", "(16)", "curvature"),
    ("theorem_6/corrected", "conclusion", "bounded"),
    ("theorem_6/corrected", "conclusion", "condition positive decrease"),
    ("theorem_6/corrected", "decrease", "condition proximal weight"),
    ("theorem_7/corrected", "device", "constants"),
    ("theorem_7/corrected", "device", "E g"),
    ("theorem_7/corrected", "device", "E|g|^2"),
    ("theorem_7/corrected", "pathwise", "descent"),
    ("one_device/corrected", "conclusion", "condition unbiased"),
    ("one_device/corrected", "length of v", "convex"),
]


@pytest.mark.parametrize(("name", "which", "unused"), DROPPED)
def test_a_step_needs_what_it_uses(name: str, which: str, unused: str) -> None:
    original = derivation(PAPER + name)
    found = step(original, which)
    assert unused in found.uses
    by = found.by
    if isinstance(by, Combine) and unused in by.multipliers:
        by = Combine({k: v for k, v in by.multipliers.items() if k != unused})
    uses = tuple(u for u in found.uses if u != unused)
    assert changed(original, which, uses=uses, by=by).status is not Status.PROVED


def test_another_bound_is_not_what_is_proved() -> None:
    original = derivation("feddane/theorem_5/as_printed")
    tighter = replace(original.statement, bound=original.statement.bound - grad2_0 / mu)
    found = replace(original, statement=tighter).examine()
    assert found.status is Status.UNDECIDED
    assert not found.bound_matches


def test_the_curvature_sign_matters() -> None:
    """With +lam in place of -lam the subproblem would be (mu + lam)-strongly convex."""
    original = derivation("feddane/theorem_5/as_printed")
    lam = sp.Symbol("lam", real=True)
    facts = tuple(replace(f, claim=f.claim.subs(lam, 2 * lam)) if f.name == "curvature" else f for f in original.facts)
    mutated = replace(original, facts=facts)
    assert mutated.check_step("(16)", 1).status is not Status.PROVED


def test_the_descent_of_a_device_is_not_that_of_f() -> None:
    """Theorem 7 as printed descends with L_k, which gives the bound of one device only where L_f <= L_k."""
    original = derivation("feddane/one_device/corrected")
    L_f, lip = sp.symbols("L_f lip", real=True)
    claim = original.steps[-1].claim
    printed = sp.Le(claim.lhs, claim.rhs.subs(L_f, lip), evaluate=False)
    assert changed(original, "conclusion", claim=printed).status is not Status.PROVED
