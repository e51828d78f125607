"""The textbook proofs: what is found, and that a change of them is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy as sp
from derivation_tools import fresh

from boundcheck.proof.derivation import Derivation, DerivationReport
from boundcheck.proof.discovery import derivation
from boundcheck.proof.methods import Combine, Supposing
from boundcheck.proof.step import Finding, Status, Step

PAPER = "classics/"
NAMES = ("gradient_descent_nonconvex", "sgd_nonconvex", "sgd_convex")
PROVED = tuple(f"{name}/{reading}" for name in NAMES for reading in ("sharp", "as_printed"))
eta, L, sigma2, sum_p2, k = sp.symbols("eta L sigma2 sum_p2 k", real=True)


CHECKED = (*(PAPER + name for name in PROVED), "classics/gradient_descent_convex/sharp")


def report(name: str) -> DerivationReport:
    return fresh(PAPER + name)


def step(original: Derivation, name: str) -> Step:
    return next(x for x in original.steps if x.name == name)


def changed(original: Derivation, name: str, **changes: object) -> Finding:
    """What is found of a step that is changed."""
    steps = tuple(replace(x, **changes) if x.name == name else x for x in original.steps)  # type: ignore[arg-type]
    return replace(original, steps=steps).check_step(name, 1)


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


GD = "classics/gradient_descent_convex/sharp"
r = sp.Symbol("r", real=True)
# step size times L, L and the number of steps
NUMBERS = [(sp.Rational(1), 1, 5), (sp.Rational(1, 2), 3, 4), (sp.Rational(3, 4), 2, 7)]


@pytest.mark.parametrize(("step_size", "smooth", "last"), NUMBERS)
def test_the_potential_is_constant_on_the_worst_function(step_size: sp.Rational, smooth: int, last: int) -> None:
    """On the Huber function of the bound, run here step by step, the potential keeps its value to the last step."""
    own = step_size / smooth
    edge = 1 / (2 * last * step_size + 1)  # |x| <= edge is the quadratic part, from the start 1
    x, values = sp.Integer(1), []
    for k in range(last + 1):
        slope = smooth * min(x, edge)
        value = smooth * x**2 / 2 if x <= edge else smooth * (edge * x - edge**2 / 2)
        here = own * k
        values.append(2 * here * value + x**2 + here * (here + sp.Rational(1, smooth)) * slope**2)
        x -= own * slope
    assert set(values) == {1}
    assert value == 1 / (4 * own * last + sp.Rational(2, smooth))


@pytest.mark.parametrize(
    ("which", "change"),
    [
        ("back", lambda m: m * sp.Rational(101, 100)),
        ("on", lambda m: m * sp.Rational(99, 100)),
        ("minimum", lambda m: m / 2),
        ("hypothesis", lambda m: m * sp.Rational(101, 100)),
        ("back", lambda m: m.subs(r, r - 1)),
        ("on", lambda m: m.subs(r, r + 1)),
    ],
)
def test_other_multipliers_leave_no_square(which: str, change: Callable[[sp.Expr], sp.Expr]) -> None:
    original = derivation(GD)
    own = step(original, "step case").by
    assert isinstance(own, Supposing)
    assert isinstance(own.by, Combine)
    hints = dict(own.by.multipliers)
    by = Supposing(Combine({**hints, which: change(sp.sympify(hints[which]))}))
    assert changed(original, "step case", by=by).status is not Status.PROVED


@pytest.mark.parametrize("unused", ["condition step size", "back", "on", "minimum", "step"])
def test_the_step_case_needs_what_it_uses(unused: str) -> None:
    original = derivation(GD)
    found = step(original, "step case")
    uses = tuple(u for u in found.uses if u != unused)
    assert len(uses) < len(found.uses)
    own = found.by
    assert isinstance(own, Supposing)
    assert isinstance(own.by, Combine)
    by = Supposing(Combine({k: m for k, m in own.by.multipliers.items() if k != unused}))
    assert changed(original, "step case", uses=uses, by=by).status is not Status.PROVED


def test_a_smaller_constant_of_the_exact_rate_is_noticed() -> None:
    original = derivation(GD)
    for name in ("conclusion", "at the end"):
        claim = step(original, name).claim
        smaller = sp.Le(claim.lhs, claim.rhs * sp.Rational(99, 100), evaluate=False)
        assert changed(original, name, claim=smaller).status is not Status.PROVED
