"""Gradient descent on a smooth function that is strongly (quasi-)convex, as checked steps.

    x(r)  point after r steps, relative to a minimiser nearest to it    s(r)  gradient there
    dist2(r)  its squared distance to the minimisers    gap(r), low(r)  gap at x(r), and at x(r) - s(r)/L

The sharp reading shows that the gradient p = s - mu x of h = F - mu/2 |x|^2 is 1/(L - mu)-cocoercive, by the models of
F at x(r) and at the minimiser, each at a point p/(L - mu + e) away; e goes to 0 and keeps mu = L in.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, lower_model, pointwise, upper_model
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Induction, Limit, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import (
    smooth_clients,
    smooth_samples,
    strong_quasi_convexity,
    strongly_convex_samples,
)

READINGS = ("sharp", "as_printed")

mu, L, eta, dist2_0, k, r, e, factor = sp.symbols("mu L eta dist2_0 k r e factor", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap, low, near, far = (sp.Function(name, real=True)(r) for name in ("gap", "low", "near", "far"))
s, x = vector("s", r), vector("x", r)
origin = Vector(())

FACTS = (
    Fact("index r", r >= 0, "index", "steps"),
    Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "no step has been made at the start"),
    Fact("distance", sp.Ge(dist2(r), norm2(x)), "metric", "points are relative to a nearest minimiser"),
    Fact("step", sp.Le(dist2(r + 1), norm2(x - s * eta)), "algorithm", "gradient descent; the old minimiser serves"),
)
CONDITION = "condition step size"

at_x, at_minimiser = Evaluation("F", x, s, gap), Evaluation("F", origin, origin, sp.Integer(0))
QUASI = (
    Fact("factor", sp.Eq(factor, 1 - mu * eta), "definition", "of one step"),
    pointwise("convex", strong_quasi_convexity, "towards the minimiser", at_x, at_minimiser),
    upper_model("smooth", smooth_clients, "F is L-smooth", at_x, Evaluation("F", x - s / L, value=low)),
    Fact("minimum", low >= 0, "metric", "a gap"),
    Fact("gap >= 0", gap >= 0, "metric", "a gap"),
)
ONE_STEP = (
    Step("factor >= 0", factor >= 0, ("factor", CONDITION), Decide(), "mu <= L"),
    Step(
        "gradient",
        sp.Le(norm2(s), 2 * L * gap),
        ("smooth", "minimum"),
        Combine({"smooth": 2 * L, "minimum": 2 * L}),
        "the gap at x - s/L is not negative",
    ),
    Step(
        "contraction",
        sp.Le(dist2(r + 1), factor * dist2(r)),
        ("step", "distance", "factor", "factor >= 0", "convex", "gradient", "gap >= 0", CONDITION),
        Combine(
            {
                "step": 1,
                "distance": 1 - mu * eta,
                "convex": 2 * eta,
                "gradient": eta**2,
                "gap >= 0": 2 * eta * (1 - eta * L),
            }
        ),
        "the square expanded",
    ),
)

SAMPLES = "F, a mean of such functions, is one too"
p = s - x * mu
one, other = Evaluation("F", x - p / (L - mu + e), value=near), Evaluation("F", p / (L - mu + e), value=far)
MODELS = ("smooth, x", "smooth, minimiser", "convex, x", "convex, minimiser")
SHARP_FACTS = (
    Fact("range e", sp.And(e > 0, e < 1), "range", "a number that goes to 0"),
    Fact("factor", sp.Eq(factor, 1 - mu * eta), "definition", "of the distance in one step"),
    upper_model("smooth, x", smooth_samples, SAMPLES, at_x, one),
    upper_model("smooth, minimiser", smooth_samples, SAMPLES, at_minimiser, other),
    lower_model("convex, x", strongly_convex_samples, SAMPLES, at_x, other),
    lower_model("convex, minimiser", strongly_convex_samples, SAMPLES, at_minimiser, one),
)
SHARP = (
    Step("factor >= 0", factor >= 0, ("factor", CONDITION), Decide(), "mu <= L"),
    Step(
        "four models",
        sp.Ge((L - mu + e) * inner(p, x), norm2(p)),
        MODELS,
        Combine(dict.fromkeys(MODELS, L - mu + e)),
        "the smaller values cancel",
    ),
    Step("cocoercive", sp.Ge((L - mu) * inner(p, x), norm2(p)), ("four models",), Limit("four models", e), "e to 0"),
    Step(
        "monotone",
        sp.Ge(inner(p, x), 0),
        ("four models", "range e"),
        Combine({"four models": 1 / (L - mu + e)}),
        "h is convex",
    ),
    Step(
        "contraction",
        sp.Le(dist2(r + 1), factor**2 * dist2(r)),
        ("step", "distance", "factor", "factor >= 0", "cocoercive", "monotone", CONDITION),
        Combine(
            {"step": 1, "distance": (1 - mu * eta) ** 2, "cocoercive": eta**2, "monotone": eta * (2 - eta * (mu + L))}
        ),
        "the square expanded",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    sharp = statement.reading == "sharp"
    power = 2 if sharp else 1

    def after(steps: Any) -> Any:
        """The bound after so many steps, as a claim."""
        return sp.Le(dist2(steps), factor ** (power * steps) * dist2_0, evaluate=False)

    induction = (
        Step("base case", after(sp.Integer(0)), ("start",), Combine(), "no step"),
        Step(
            "step case",
            sp.Implies(after(r), after(r + 1)),
            ("contraction", "factor >= 0"),
            Supposing(Combine({"hypothesis": factor**power, "contraction": 1})),
            "one more step",
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
            sp.Le(dist2(k), statement.bound, evaluate=False),
            ("induction", "factor"),
            Combine({"induction": 1}),
            "the factor written out",
        ),
    )
    facts = (*FACTS, *(SHARP_FACTS if sharp else QUASI))
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        (*(SHARP if sharp else ONE_STEP), *induction),
        conclusion="conclusion",
        target=dist2(k),
    )
