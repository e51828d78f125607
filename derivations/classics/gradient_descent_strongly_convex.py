"""Gradient descent on a smooth function that is strongly (quasi-)convex, as checked steps.

    x(r)  point after r steps, relative to a minimiser nearest to it    s(r)  gradient there
    dist2(r)  its squared distance to the minimisers    gap(r), low(r)  gap at x(r), and at x(r) - s(r)/L

The sharp reading shows that h = s - mu x, the gradient of F - mu/2 |x|^2, is 1/(L - mu)-cocoercive, by the models of F
at x(r) and at the minimiser, each at a point h/(L - mu + e) away; e goes to 0 and keeps mu = L in.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.rules import Limit
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import (
    smooth_clients,
    smooth_samples,
    strong_quasi_convexity,
    strongly_convex_samples,
)

READINGS = ("sharp", "as_printed")

mu, L, eta, dist2_0, k, r, e, factor = symbols("mu L eta dist2_0 k r e factor")
dist2, (gap, low, near, far) = functions("dist2"), (f(r) for f in functions("gap low near far"))
s, x, origin = vector("s", r), vector("x", r), Vector(())
at_x, at_minimiser = Evaluation("F", x, s, gap), Evaluation("F", origin, origin, sp.Integer(0))


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, dist2(k))
    p.index(r, None, "steps")
    p.known("start", eq(dist2_0, dist2(0)), "no step has been made at the start")
    p.known("distance", dist2(r) >= norm2(x), "points are relative to a nearest minimiser")
    p.algorithm("step", dist2(r + 1) <= norm2(x - s * eta), "gradient descent; the old minimiser serves")
    if p.reading == "sharp":
        sharp(p)
        power = 2
    else:
        by_the_gap(p)
        power = 1
    p.induct("induction", lambda r: le(dist2(r), factor**(power * r) * dist2_0), r, k, base="start",
        step=({"hypothesis": factor**power, "contraction": 1}, "factor >= 0"), words=("no step", "one more step"),
        why="every number of steps")
    p.conclude(le(dist2(k), p.bound), {"induction": 1}, "factor", why="the factor written out")
    return p.done()


def by_the_gap(p: Proof) -> None:
    """The squared distance contracts by 1 - mu eta, since the gap bounds the gradient."""
    p.define(factor, 1 - mu * eta, "of one step")
    p.pointwise("convex", strong_quasi_convexity, "towards the minimiser", at_x, at_minimiser)
    p.upper_model("smooth", smooth_clients, "F is L-smooth", at_x, Evaluation("F", x - s / L, value=low))
    p.known("minimum", low >= 0, "a gap")
    p.known("gap >= 0", gap >= 0, "a gap")
    p.signs(factor >= 0, "factor", "condition step size", why="mu <= L")
    p.step("gradient", norm2(s) <= 2 * L * gap, {"smooth": 2 * L, "minimum": 2 * L},
        why="the gap at x - s/L is not negative")
    p.step("contraction", dist2(r + 1) <= factor * dist2(r), {"step": 1, "distance": 1 - mu * eta, "convex": 2 * eta,
        "gradient": eta**2, "gap >= 0": 2 * eta * (1 - eta * L)}, "factor", "factor >= 0", why="the square expanded")


def sharp(p: Proof) -> None:
    """The squared distance contracts by (1 - mu eta)^2, since h is cocoercive."""
    mean, h = "F, a mean of such functions, is one too", s - x * mu
    one, other = Evaluation("F", x - h / (L - mu + e), value=near), Evaluation("F", h / (L - mu + e), value=far)
    p.range("range e", sp.And(e > 0, e < 1), "a number that goes to 0")
    p.define(factor, 1 - mu * eta, "of the distance in one step")
    p.upper_model("smooth, x", smooth_samples, mean, at_x, one)
    p.upper_model("smooth, minimiser", smooth_samples, mean, at_minimiser, other)
    p.lower_model("convex, x", strongly_convex_samples, mean, at_x, other)
    p.lower_model("convex, minimiser", strongly_convex_samples, mean, at_minimiser, one)
    p.signs(factor >= 0, "factor", "condition step size", why="mu <= L")
    models = ("smooth, x", "smooth, minimiser", "convex, x", "convex, minimiser")
    p.step("four models", (L - mu + e) * inner(h, x) >= norm2(h), dict.fromkeys(models, L - mu + e),
        why="the smaller values cancel")
    p.rule("cocoercive", Limit("four models", e), "four models", claim=(L - mu) * inner(h, x) >= norm2(h),
        why="e to 0")
    p.step("monotone", inner(h, x) >= 0, {"four models": 1 / (L - mu + e)}, why="F - mu/2 |x|^2 is convex")
    p.step("contraction", dist2(r + 1) <= factor**2 * dist2(r), {"step": 1, "distance": (1 - mu * eta)**2,
        "cocoercive": eta**2, "monotone": eta * (2 - eta * (mu + L))}, "factor", "factor >= 0",
        why="the square expanded")
