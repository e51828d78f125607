"""The proof of Theorem 3 (FedDANE, Appendix V-D) as checked steps: that of Theorem 5 for convex devices, lam = 0.

The chain of Theorem 5 names lam in two places only: where it introduces m = mu - lam, and where it uses the curvature
of the devices. Both are replaced here, and the result is compared with the bound of Theorem 3.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, symbols
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import convex_clients

READINGS = ("as_printed", "sharp_any_cohort", "sharp")

mu, m, k = symbols("mu m k")
g, v, h, start = vector("g"), vector("v", k), vector("h", k), Vector(())


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Theorem 3."""
    general = f"feddane/theorem_5/{statement.reading}"
    p = Proof(statement, derivation_of(general).target, drawn=derivation_of(general).drawn)
    p.take_facts(general, "variance", "gradients", "index j", "mean of S_t", "shares")
    p.define(m, mu, "strong convexity of the local subproblems")
    p.take_facts(general, "solvers", "index k", "e", "gradient", "descent", "mean of S'_t", "optimality", "smooth")
    p.pointwise("curvature", convex_clients, "convex devices, each without its linear part at w^{t-1}",
        Evaluation("f_i", v, h, which=k), Evaluation("f_i", start, start, which=k))
    p.take_facts(general, "inexact", "E g", "E g, above", "dissimilar")
    p.signs(m > 0, "m", why="the subproblems are strongly convex")
    p.step("(16)", m**2 * norm2(v) <= norm2(g), {"curvature": 2 * mu}, "optimality", "m", "m > 0",
        why="(6): the gradient of the subproblem at w^{t-1} is g")
    p.take_steps(general, skip=("m > 0", "(16)"))
    p.take_steps(general, "conclusion")
    p.ends_with("conclusion")
    return p.done()
