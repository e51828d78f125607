"""The proof of Lemma B.1 (FedShuffle, Appendix B.1): strong convexity with the gradient at a perturbed point.

x, y, z  the points        grad  gradient of h at x        hx, hy, hz  values of h
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, ge, symbols
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("as_printed", "sharp")

mu, L, rise, norm2_yz, norm2_zx, hx, hy, hz, product = symbols("mu L rise norm2_yz norm2_zx hx hy hz product")
x, y, z, grad = vector("x"), vector("y"), vector("z"), vector("grad")


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, product)
    p.known("product", eq(product, inner(grad, y - z)), "minus the left side as printed")
    p.known("rise", eq(rise, hy - hz), "minus the difference as printed")
    p.known("yz", eq(norm2_yz, norm2(y - z)), "squared distance")
    p.known("zx", eq(norm2_zx, norm2(z - x)), "squared distance")
    p.assume("smooth", "smooth_function", inner(grad, z - x) >= hz - hx - L / 2 * norm2(z - x), "h is L-smooth")
    p.assume("convex", "strongly_convex_function", inner(grad, x - y) >= hx - hy + mu / 2 * norm2(y - x),
        "h is mu-strongly convex")

    p.square_of_sum("1.1", y - x, x - z, why="the relaxed triangle inequality")
    p.step("1", mu / 2 * norm2(y - x) >= mu / 4 * norm2(y - z) - mu / 2 * norm2(x - z), {"1.1": mu / 4},
        why="times mu/4")
    p.step("2", inner(grad, z - y) >= hz - hy + mu / 4 * norm2(y - z) - (L + mu) / 2 * norm2(z - x),
        {"1": 1, "smooth": 1, "convex": 1}, why="all inequalities together")
    words = ("product", "rise", "yz", "zx")
    if p.reading == "sharp":
        p.conclude(product <= rise - mu / 4 * norm2_yz + (L + mu) / 2 * norm2_zx, {"2": 1}, *words,
            why="in the lemma's words")
    else:
        p.step("0", ge(norm2(z - x), 0), why="a squared norm")
        p.conclude(product <= rise - mu / 4 * norm2_yz + L * norm2_zx, {"2": 1, "0": (L - mu) / 2}, *words,
            why="mu <= L")
    return p.done()
