"""The textbook proofs: what is found, and that a change of them is noticed."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation, DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.gram import Combine
from boundcheck.proof.step import Finding, Status, Step

PAPER = "classics/"
NAMES = ("gradient_descent_nonconvex", "sgd_nonconvex", "sgd_convex")
PROVED = tuple(f"{name}/{reading}" for name in NAMES for reading in ("sharp", "as_printed"))
eta, L, sigma2, sum_p2, k = sp.symbols("eta L sigma2 sum_p2 k", real=True)


CHECKED = tuple(PAPER + name for name in PROVED)


def report(name: str) -> DerivationReport:
    return fresh(PAPER + name)


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes: object) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)  # type: ignore[arg-type]
    return replace(original, steps=steps).check_step(name, 1)


@pytest.mark.parametrize("name", PROVED)
def test_every_reading_is_proved_step_by_step(name: str) -> None:
    found = report(name)
    assert found.status is Status.PROVED
    assert found.bound_matches
    assert all(r.status is Status.PROVED and r.depends_on == () for r in found.results)
    assert found.conditions == ("condition step size",)
    json.dumps(found.to_dict())


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_decrease_is_refuted(name: str) -> None:
    """The rounded factor of the decrease is the largest that the step condition allows."""
    original = derivation(f"{PAPER}{name}/as_printed")
    claim = step(original, "factor").claim
    larger = sp.Le(claim.lhs * sp.Rational(101, 100), claim.rhs, evaluate=False)
    assert changed(original, "factor", claim=larger).status is Status.REFUTED


@pytest.mark.parametrize("name", PROVED)
def test_a_smaller_bound_is_noticed(name: str) -> None:
    original = derivation(PAPER + name)
    claim = step(original, "conclusion").claim
    smaller = sp.Le(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
    assert changed(original, "conclusion", claim=smaller).status is not Status.PROVED


@pytest.mark.parametrize("name", ["sgd_nonconvex/sharp", "sgd_convex/sharp"])
def test_less_noise_is_noticed(name: str) -> None:
    original = derivation(PAPER + name)
    claim = step(original, "decrease").claim
    less = sp.Le(claim.lhs, claim.rhs - eta**2 * L * sigma2 * sum_p2 / (100 * L), evaluate=False)
    assert changed(original, "decrease", claim=less).status is not Status.PROVED


@pytest.mark.parametrize(
    ("name", "which", "unused"),
    [
        ("gradient_descent_nonconvex/sharp", "factor > 0", "condition step size"),
        ("gradient_descent_nonconvex/as_printed", "factor", "condition step size"),
        ("gradient_descent_nonconvex/sharp", "decrease", "smooth"),
        ("gradient_descent_nonconvex/sharp", "decrease", "step"),
        ("gradient_descent_nonconvex/sharp", "conclusion", "bounded"),
        ("sgd_nonconvex/sharp", "decrease", "unbiased"),
        ("sgd_nonconvex/sharp", "decrease", "unbiased, above"),
        ("sgd_nonconvex/sharp", "decrease", "noise"),
        ("sgd_convex/sharp", "decrease", "convex"),
        ("sgd_convex/sharp", "decrease", "gradient"),
        ("sgd_convex/sharp", "decrease", "unbiased"),
        ("sgd_convex/sharp", "gradient", "minimum"),
        ("sgd_convex/as_printed", "factor", "condition step size"),
    ],
)
def test_a_step_needs_what_it_uses(name: str, which: str, unused: str) -> None:
    original = derivation(PAPER + name)
    found = step(original, which)
    assert unused in found.uses
    by = found.by
    if isinstance(by, Combine) and unused in by.multipliers:
        by = Combine({n: v for n, v in by.multipliers.items() if n != unused})
    uses = tuple(u for u in found.uses if u != unused)
    assert changed(original, which, uses=uses, by=by).status is not Status.PROVED
