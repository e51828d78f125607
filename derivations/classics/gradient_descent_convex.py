"""Gradient descent on a smooth convex function: 2 eta r gap(r) + |x(r)|^2 does not grow, as checked steps.

x(r)  point after r steps, relative to a minimiser nearest to the start    s(r)  gradient there    gap(r)  gap there
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality, norm2, vector
from boundcheck.theory.assumptions import convexity, smooth_clients

READINGS = ("as_printed",)

L, eta, dist2_0, k, r = sp.symbols("L eta dist2_0 k r", real=True)
gap: Any = sp.Function("gap", real=True)
s, x, then = vector("s", r), vector("x", r), vector("x", r + 1)
at_x = Evaluation("F", x, s, gap(r))

FACTS = (
    Fact("index r", r >= 0, "index", "steps"),
    Fact("start", sp.Eq(dist2_0, norm2(x.at(r, 0))), "metric", "positions are relative to a nearest minimiser"),
    Fact("gap >= 0", gap(r) >= 0, "metric", "a gap"),
    Fact("step", VectorEquality(then, x - s * eta), "algorithm", "gradient descent"),
    upper_model("smooth", smooth_clients, "F is L-smooth", at_x, Evaluation("F", then, value=gap(r + 1))),
    lower_model("convex", convexity, "to the minimiser", at_x, Evaluation("F", Vector(()), value=sp.Integer(0))),
)
CONDITION = "condition step size"


def after(steps: Any) -> Any:
    """What is left of the potential after so many steps, as a claim."""
    return sp.Le(2 * eta * steps * gap(steps) + norm2(x.at(r, steps)), dist2_0, evaluate=False)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    steps = (
        Step(
            "descent",
            sp.Le(gap(r + 1), gap(r) - eta / 2 * norm2(s)),
            ("smooth", "step", CONDITION),
            Combine({"smooth": 1}),
            "eta L <= 1",
        ),
        Step("base case", after(sp.Integer(0)), ("start",), Combine(), "no step"),
        Step(
            "step case",
            sp.Implies(after(r), after(r + 1)),
            ("descent", "convex", "step", CONDITION),
            Supposing(Combine({"hypothesis": 1, "descent": 2 * eta * (r + 1), "convex": 2 * eta})),
            "the gap does not grow, and the distance falls by 2 eta times the next one",
        ),
        Step(
            "induction",
            after(k),
            ("base case", "step case"),
            Induction("base case", "step case", r, k),
            "every number of steps",
        ),
        Step(
            "conclusion",
            sp.Le(gap(k), statement.bound, evaluate=False),
            ("induction", CONDITION),
            Combine({"induction": 1 / (2 * eta * k)}),
            "the distance is dropped",
        ),
    )
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion="conclusion", target=gap(k))
