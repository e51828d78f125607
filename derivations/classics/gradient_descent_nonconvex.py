"""Gradient descent on a smooth function that is bounded below, as checked steps.

x(r)  point after r steps    s(r)  gradient there    gap(r)  its gap    mean  of |s(r)|^2 over r = 0, ..., k-1
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.assumptions import bounded_below, smooth_clients

READINGS = ("sharp", "as_printed")

L, eta, gap_0, k, r, mean = symbols("L eta gap_0 k r mean")
gap = functions("gap")
s, x, then = vector("s", r), vector("x", r), vector("x", r + 1)


def derivation(statement: Any) -> Any:
    """The derivation of one reading; as_printed: the decrease is rounded to eta/2 |s|^2."""
    p = Proof(statement, mean)
    p.index(r, k, "steps")
    p.known("mean", eq(mean, total(norm2(s), r, k) / k), "over the points before the steps")
    p.known("start", eq(gap_0, gap(0)), "the gap of the start")
    p.pointwise("bounded", bounded_below, "a gap", gap=gap(k))
    p.algorithm("step", eq(then, x - s * eta), "gradient descent")
    p.upper_model("smooth", smooth_clients, "F, a mean of L-smooth functions, is L-smooth",
        Evaluation("F", x, s, gap(r)), Evaluation("F", then, value=gap(r + 1)))

    factor = eta / 2 if p.reading == "as_printed" else eta * (1 - eta * L / 2)
    p.step("factor > 0", factor > 0, why="there is a decrease")
    if p.reading == "as_printed":
        p.step("factor", factor <= eta * (1 - eta * L / 2), why="the step condition")
    p.step("decrease", gap(r + 1) <= gap(r) - factor * norm2(s), {"smooth": 1}, "step", "condition step size",
        why="the descent lemma")
    p.add_up("sum", None, "decrease", gap(r), r, k, why="all steps")
    p.conclude(mean <= gap_0 / (factor * k), {"sum": 1 / (factor * k), "bounded": 1 / (factor * k)}, "mean", "start",
        "factor > 0", why="divided by the number of steps")
    return p.done()
