"""Synchronous SGD on a smooth function that is bounded below, as checked steps.

Vectors are random and <u, v> is the expectation of their inner product.

    x(r)  point after r steps    s(r)  gradient there    g(r)  the workers' stochastic gradient there, averaged
    gap(r)  expected gap at x(r)                         mean  of E|s(r)|^2 over r = 0, ..., k-1
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import bounded_below, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, sigma2, sum_p2, gap_0, k, r, mean = symbols("L eta sigma2 sum_p2 gap_0 k r mean")
gap = functions("gap")
s, g, x, then = vector("s", r), vector("g", r), vector("x", r), vector("x", r + 1)
variance = sigma2 * sum_p2


def derivation(statement: Any) -> Any:
    """The derivation of one reading; as_printed: the decrease is rounded to eta/2 |s|^2."""
    p = Proof(statement, mean, drawn=((x, r), (s, r), (g, r + 1)))
    unbiased = "g has the mean s, since the averages have the weights of F"
    p.index(r, k, "steps")
    p.known("mean", eq(mean, total(norm2(s), r, k) / k), "over the points before the steps")
    p.known("start", eq(gap_0, gap(0)), "the gap of the start")
    p.pointwise("bounded", bounded_below, "a gap", gap=gap(k))
    p.algorithm("step", eq(then, x - g * eta), "one step with the averaged gradient")
    p.assume("unbiased", "block_variance", inner(g - s, s) >= 0, unbiased)
    p.assume("unbiased, above", "block_variance", inner(g - s, s) <= 0, unbiased)
    p.assume("noise", "block_variance", norm2(g - s) <= variance,
        "independent noise of the workers, of variance sigma2 each, with the weights p_i")
    p.upper_model("smooth", smooth_clients, "F, a mean of L-smooth functions, is L-smooth",
        Evaluation("F", x, s, gap(r)), Evaluation("F", then, value=gap(r + 1)))

    factor = eta / 2 if p.reading == "as_printed" else eta * (1 - eta * L / 2)
    noise = eta**2 * L * variance / 2
    p.step("factor > 0", factor > 0, why="there is a decrease")
    if p.reading == "as_printed":
        p.step("factor", factor <= eta * (1 - eta * L / 2), why="the step condition")
    p.step("decrease", gap(r + 1) <= gap(r) - factor * norm2(s) + noise, {"smooth": 1, "unbiased": eta,
        "unbiased, above": eta**2 * L, "noise": eta**2 * L / 2}, "step", "condition step size",
        why="the descent lemma, in expectation")
    p.add_up("sum", None, "decrease", gap(r), r, k, why="all steps")
    p.conclude(mean <= (gap_0 / k + noise) / factor, {"sum": 1 / (factor * k), "bounded": 1 / (factor * k)}, "mean",
        "start", "factor > 0", why="divided by the number of steps")
    return p.done()
