"""The proof of Theorem 6 (FedDANE) as checked steps: the decreases of Theorem 5 added up.

    gap(t)  expected gap after t iterations    G(t)  E|grad f|^2 there

The corrected reading takes the mean over t = 0, ..., T - 1; the printed one over t = 1, ..., T, for which the decrease
is needed after T iterations too.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.theory.assumptions import bounded_below

READINGS = ("corrected", "as_printed", "sharp")

gap_0, grad2_0, T, t, mean = symbols("gap_0 grad2_0 T t mean")
gap, G = functions("gap"), functions("G")(t)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, rounds=((gap(t), t), (G, t)))
    rho = p.condition("positive decrease").lhs
    points = T + 1 if p.reading == "as_printed" else T
    p.index(t, points, "iterations")
    p.known("start", eq(gap_0, gap(0)), "the gap of the start")
    p.known("mean", eq(mean, total(G, t, points) / T), "over the points of the run")
    p.known("gap >= 0", gap(t) >= 0, "f* is the infimum of f")
    p.known("G >= 0", G >= 0, "a mean of squared norms")
    p.pointwise("bounded", bounded_below, "f* is finite", gap=gap(points))

    p.cite_mean("decrease", gap(t + 1) <= gap(t) - rho * G,
        f"theorem_6_iteration/{'sharp' if p.reading == 'sharp' else 'as_printed'}", gap(t + 1),
        {gap_0: gap(t), grad2_0: G}, "gap >= 0", "G >= 0", why="Theorem 5 at the point after t iterations")
    p.add_up("sum", None, "decrease", gap(t), t, points, why="all iterations")
    bound, first = gap_0 / (rho * T), {}
    if p.reading == "as_printed":
        bound, first = bound + grad2_0 / T, {"domain grad2_0": 1 / T}
    p.conclude(mean <= bound, {"sum": 1 / (rho * T), "bounded": 1 / (rho * T)}, first, "start", "mean",
        why="divided by rho T")
    return p.done()
