"""Synchronous SGD on a smooth convex function, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product; points are relative to a minimiser nearest to
the start.

    x(r)  point after r steps    s(r)  gradient there    g(r)  the workers' stochastic gradient there, averaged
    gap(r), low(r)  expected gap at x(r), and at x(r) - s(r)/L        mean  of gap(r) over r = 0, ..., k-1
    far(r)  E|x(r)|^2
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import convexity, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, sigma2, sum_p2, dist2_0, k, r, mean = symbols("L eta sigma2 sum_p2 dist2_0 k r mean")
gap, low = (f(r) for f in functions("gap low"))
s, g, x, then = vector("s", r), vector("g", r), vector("x", r), vector("x", r + 1)
variance = sigma2 * sum_p2


def derivation(statement: Any) -> Any:
    """The derivation of one reading; as_printed: the decrease is rounded to eta times the gap."""
    p = Proof(statement, mean, drawn=((x, r), (s, r), (g, r + 1)))
    at_x = Evaluation("F", x, s, gap)
    unbiased = "g has the mean s whatever happened before, since the averages have the weights of F"
    p.index(r, k, "steps")
    p.known("mean", eq(mean, total(gap, r, k) / k), "over the points before the steps")
    p.known("start", eq(dist2_0, norm2(x.at(r, 0))), "positions are relative to a nearest minimiser")
    p.known("gap", gap >= 0, "a gap")
    p.known("minimum", low >= 0, "a gap")
    p.algorithm("step", eq(then, x - g * eta), "one step with the averaged gradient")
    p.assume("unbiased", "block_variance", inner(g - s, x) >= 0, unbiased)
    p.assume("unbiased, s", "block_variance", inner(g - s, s) <= 0, unbiased)
    p.assume("noise", "block_variance", norm2(g - s) <= variance,
        "independent noise of the workers, of variance sigma2 each, with the weights p_i")
    p.lower_model("convex", convexity, "from x(r) to the minimiser", at_x,
        Evaluation("F", Vector(()), value=sp.Integer(0)))
    p.upper_model("smooth", smooth_clients, "F is L-smooth, from x(r) to x(r) - s(r)/L", at_x,
        Evaluation("F", x - s / L, value=low))

    least = 2 * eta * (1 - eta * L)
    factor = eta if p.reading == "as_printed" else least
    p.step("factor > 0", factor > 0, why="there is a decrease")
    if p.reading == "as_printed":
        p.step("factor", factor <= least, why="the step condition")
    p.step("gradient", norm2(s) <= 2 * L * gap, {"smooth": 2 * L, "minimum": 2 * L},
        why="the gap at x - s/L is not negative")
    p.step("decrease", norm2(then) <= norm2(x) - factor * gap + eta**2 * variance, {"unbiased": 2 * eta,
        "unbiased, s": 2 * eta**2, "noise": eta**2, "convex": 2 * eta, "gradient": eta**2, "gap": least - factor},
        "step", "condition step size", why="the square expanded, in expectation")
    p.add_up("sum", None, "decrease", norm2(x), r, k, why="all steps")
    p.conclude(mean <= (dist2_0 / k + eta**2 * variance) / factor, {"sum": 1 / (factor * k)}, "mean", "start",
        "factor > 0", why="divided by the number of steps")
    return p.done()
