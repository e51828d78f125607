"""Synchronous SGD on a smooth function that is strongly (quasi-)convex, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product.

    x(r)  point after r steps, relative to a minimiser nearest to it    s(r)  gradient there
    g(r)  the workers' stochastic gradient there, averaged    dist2(r)  expected squared distance to the minimisers
    gap(r), low(r)  expected gap at x(r), and at x(r) - s(r)/L

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

mu, L, eta, sigma2, sum_p2, dist2_0, k, r, e, factor = symbols("mu L eta sigma2 sum_p2 dist2_0 k r e factor")
dist2, (gap, low, near, far) = functions("dist2"), (f(r) for f in functions("gap low near far"))
s, g, x, origin = vector("s", r), vector("g", r), vector("x", r), Vector(())
at_x, at_minimiser = Evaluation("F", x, s, gap), Evaluation("F", origin, origin, sp.Integer(0))
variance = sigma2 * sum_p2
of_one_step = {"step": 1, "unbiased": 2 * eta, "unbiased, s": 2 * eta**2, "noise": eta**2}


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, dist2(k))
    unbiased = "g has the mean s whatever happened before, since the averages have the weights of F"
    p.index(r, None, "steps")
    p.known("start", eq(dist2_0, dist2(0)), "no step has been made at the start")
    p.known("distance", dist2(r) >= norm2(x), "points are relative to a nearest minimiser")
    p.algorithm("step", dist2(r + 1) <= norm2(x - g * eta), "one step; the old minimiser serves")
    p.assume("unbiased", "block_variance", inner(g - s, x) >= 0, unbiased)
    p.assume("unbiased, s", "block_variance", inner(g - s, s) <= 0, unbiased)
    p.assume("noise", "block_variance", norm2(g - s) <= variance,
        "independent noise of the workers, of variance sigma2 each, with the weights p_i")
    if p.reading == "sharp":
        sharp(p)
        power, series = 2, lambda left: (1 - left) / (mu * (2 - mu * eta))
    else:
        by_the_gap(p)
        power, series = 1, lambda left: 1 / mu

    def after(steps: Any) -> Any:
        left = factor**(power * steps)
        return le(dist2(steps), left * dist2_0 + eta * variance * series(left))

    p.induct("induction", after, r, k, "condition step size", base="start",
        step=({"hypothesis": (1 - mu * eta)**power, "contraction": 1}, "factor", "factor >= 0", "condition step size"),
        words=("no step", "one more step"), why="every number of steps")
    p.conclude(le(dist2(k), p.bound), {"induction": 1}, "factor", "condition step size", why="the factor written out")
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
    p.step("contraction", dist2(r + 1) <= factor * dist2(r) + eta**2 * variance, of_one_step, {"distance": 1 - mu * eta,
        "convex": 2 * eta, "gradient": eta**2, "gap >= 0": 2 * eta * (1 - eta * L)}, "factor", "factor >= 0",
        why="the square expanded")


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
    p.step("contraction", dist2(r + 1) <= factor**2 * dist2(r) + eta**2 * variance, of_one_step, {
        "distance": (1 - mu * eta)**2, "cocoercive": eta**2, "monotone": eta * (2 - eta * (mu + L))}, "factor",
        "factor >= 0", why="the square expanded")
