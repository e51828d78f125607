"""Theorem 1's step condition (partial model averaging) is exactly eta Lmax <= 1/tau: both directions, and the largest.

    t        any step size    largest  the largest one that meets Lmax^2 eta^2 tau (tau - 1) + eta Lmax <= 1

The left side rises with the step without a bound, so that it is 1 at the largest step.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("factored", "as_printed")

Lmax, tau, t, u, largest = sp.symbols("Lmax tau t u largest", real=True)


def left(step: Any) -> Any:
    """The left side of the condition."""
    return Lmax**2 * step**2 * tau * (tau - 1) + step * Lmax


at_the_limit: Any = sp.Eq(left(largest), 1)
FACTS = (
    Fact("t", t >= 0, "range", "any step size"),
    Fact("u", u > t, "range", "any larger one"),
    Fact("largest", sp.And(at_the_limit, largest >= 0), "metric", "the step at which the left side is 1"),
)
SIZES = ("domain Lmax", "domain tau")

STEPS = (
    Step(
        "factors",
        sp.Eq(left(t) - 1, (t * Lmax * tau - 1) * (t * Lmax * tau - t * Lmax + 1)),
        (),
        Decide(),
        "with e = eta Lmax: (e tau - 1) (e tau - e + 1)",
    ),
    Step("second factor", t * Lmax * tau - t * Lmax + 1 > 0, ("t", *SIZES), Decide(), "tau >= 1"),
    Step(
        "necessary",
        sp.Implies(left(t) <= 1, t * Lmax * tau <= 1),
        ("factors", "second factor"),
        Supposing(Decide()),
        "the condition implies eta Lmax <= 1/tau",
    ),
    Step(
        "sufficient",
        sp.Implies(t * Lmax * tau <= 1, left(t) <= 1),
        ("factors", "second factor"),
        Supposing(Decide()),
        "eta Lmax <= 1/tau implies the condition",
    ),
    Step("rises", left(u) > left(t), ("t", "u", *SIZES), Decide(), "a larger step has a larger left side"),
    Step(
        "conclusion",
        sp.Eq(largest, 1 / (tau * Lmax)),
        ("largest", *SIZES),
        Decide(),
        "the root of the first factor",
    ),
)
ROOT = Step(
    "conclusion",
    sp.Eq(largest, 2 / (1 + sp.sqrt(1 + 4 * tau * (tau - 1))) / Lmax),
    ("largest", *SIZES),
    Decide(),
    "the positive root of the quadratic",
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    last = ROOT if statement.reading == "as_printed" else STEPS[-1]
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        (*STEPS[:-1], last),
        conclusion="conclusion",
        target=largest,
    )
