"""The proof of Lemma D.2 (Horvath et al., FedShuffle, Appendix D) as checked steps, for every outcome.

m, x, y        momentum, start of the round, start of the epoch
fix, fiy       gradient of f_i at x and y               fx, fy    the same of f
d              direction (25) of the epoch
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.vectors import norm2, vector
from boundcheck.theory.assumptions import hessian_similarity

READINGS = ("as_printed", "sharp")

h2, y2, gam2, delta, a, error2 = symbols("h2 y2 gam2 delta a error2")
m, x, y, d, fix, fiy, fx, fy = (vector(name) for name in ("m", "x", "y", "d", "fix", "fiy", "fx", "fy"))
h, Z, G = m - fx, fiy - fix - fy + fx, fix - fx


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma D.2."""
    p = Proof(statement, error2, squares=(h2, y2, gam2))
    p.algorithm("direction", eq(d, fiy * a + m * (1 - a) + (fiy - fix) * (1 - a)), "(25)")
    p.known("h2", norm2(h) <= h2, "Lemma D.2")
    p.known("y2", norm2(y - x) <= y2, "Lemma D.2")
    p.known("gam2", norm2(G) <= gam2, "Lemma D.2")
    p.known("error2", error2 <= norm2(d - fy), "Lemma D.2")
    p.pointwise("A3.5", hessian_similarity, "Assumption 3.5", Evaluation("f_i", y, fiy), Evaluation("f_i", x, fix),
        Evaluation("F", y, fy), Evaluation("F", x, fx))

    p.step("three parts", eq(d - fy, h * (1 - a) + Z + G * a), "direction",
        why="grad f(x), grad f_i(x) and grad f(y) added and subtracted")
    p.square_of_sum("square", h * (1 - a), Z, G * a, uses="direction", why="Lemma B.6 with three terms",
        claim=norm2(d - fy) <= 3 * (1 - a)**2 * norm2(h) + 3 * norm2(Z) + 3 * a**2 * norm2(G))
    parts = {"error2": 1, "square": 1, "A3.5": 3, "h2": 3 * (1 - a)**2, "y2": 3 * delta**2, "gam2": 3 * a**2}
    if p.reading == "sharp":
        p.conclude(error2 <= 3 * (1 - a)**2 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2, parts, why="Assumption 3.5")
    else:
        p.step("factor", (1 - a)**2 <= 1, why="0 <= a <= 1")
        p.conclude(error2 <= 3 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2, parts, "factor",
            why="Assumption 3.5 and (1-a)^2 <= 1")
    return p.done()
