"""The proof of Lemma 4 (asynchronous federated learning, Appendix A.3, (72)), corrected, as checked steps.

The facts and steps are those of (61), `derivations/async_fl/lemma_3.py`, with its notation; besides

    goal   the point x, the minimiser of the surrogate problem      fx(k)  expected loss of the sample of step k there
    D      q times the mean over k of <g(k), theta^n - x>
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector
from boundcheck.theory.assumptions import convex_samples, smooth_samples

READINGS = ("corrected",)

L, K, k, q, tau, eta_l, Qs, Z, Xi, sg1, phi, along = symbols("L K k q tau eta_l Qs Z Xi sg1 phi along")
bounded = symbols("bounded")
f0, fx, fy = (f(k) for f in functions("f0 fx fy"))
y, g, goal = vector("y", k), vector("g", k), vector("goal")
at_y = Evaluation("f_ij", y, g, fy, which=k)
e = eta_l**2 * (K - 1)**2
drift = 6 * e * L**2


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, bounded, squares=(Qs, Z, sg1),
        drawn=(*derivation_of("async_fl/lemma_3/corrected").drawn, (goal, 0)))
    p.take_facts("lemma_3/corrected")
    p.known("metric", eq(bounded, -2 * along), "what the lemma bounds")
    p.known("D", eq(along, -q * total(inner(g, goal), k, K) / K), "q_i(n) = q qt_i(n); theta^n is the origin")
    p.known("Xi", K * Xi <= q * total(f0 - fx, k, K), "L^n has the weights q_i(n)")
    p.upper_model("smooth, back", smooth_samples, "to theta^n", at_y, Evaluation("f_ij", y * 0, value=f0, which=k))
    p.lower_model("convex, x", convex_samples, "to x", at_y, Evaluation("f_ij", goal, value=fx, which=k))

    p.take_steps("lemma_3/corrected")
    p.step("(61)", phi <= 4 * tau * Qs + 4 * drift * Z / (L * q) + 12 * e * sg1,
        {"display": 1 / (K * (1 - drift)), "work": 2 * e / (K * (1 - drift))}, "phi",
        why="(70), divided by 1 - D, which is at least 1/2")
    p.step("progress", -inner(g, goal) >= f0 - fx - L / 2 * norm2(y), {"smooth, back": 1, "convex, x": 1},
        why="three points")
    p.sum_over("progress, summed", None, "progress", k, K, why="all steps")
    p.step("display 4", bounded <= -2 * Xi + L * q * phi, {"progress, summed": 2 * q / K, "Xi": 2 / K}, "metric", "D",
        "phi", why="(71)")
    p.conclude(bounded <= -2 * Xi + 4 * L * q * tau * Qs + 4 * drift * Z + 12 * e * q * L * sg1,
        {"display 4": 1, "(61)": L * q}, why="(61) put in")
    return p.done()
