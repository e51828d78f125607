"""The proof of Theorem 5.2 (FedShuffleMVR) from Lemma D.5: the error of the first momentum.

Vectors are random and <u, v> is the expectation of their inner product.

    n(j)  gradient of the client of warm-up round j at x^0, minus grad f(x^0)    p(k)  n(0) + ... + n(k-1)
    fi(j), f  these gradients    first  squared error of the first momentum, the mean of the gradients fi(j)
    mean  what the theorem bounds
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, le, symbols
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import gradient_dissimilarity

READINGS = ("corrected", "as_printed")

L, G2, sigma2, E, R, eta_l, a, warm_up = symbols("L G2 sigma2 E R eta_l a warm_up")
gap_0, h2_0, first, mean, j = symbols("gap_0 h2_0 first mean j")
n, fi, f, origin = vector("n", j), vector("fi", j), vector("f"), Vector(())


def past(rounds: Any) -> Vector:
    """The deviations of this many rounds of the warm-up, added up."""
    return vector("p", rounds)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, at_start=(first,), squares=(gap_0, G2, sigma2),
        drawn=((f, 0), (past(j), j), (fi, j + 1)))
    p.index(j, None, "rounds of the warm-up")
    p.define(n, fi - f, "deviation of the sampled gradient")
    p.algorithm("nothing", eq(past(0), origin), "no round of the warm-up")
    p.algorithm("next", eq(past(j + 1), past(j) + n), "one more")
    p.algorithm("by weight", inner(fi, f) >= norm2(f), "a client drawn by weight: the mean of fi is f")
    p.algorithm("independent", inner(past(j), n) <= 0, "drawn independently of the rounds before, of mean 0")
    p.algorithm("momentum", warm_up**2 * first <= norm2(past(warm_up)), "m^0 is the mean of the gradients")
    p.known("first >= 0", first >= 0, "a squared norm")
    p.pointwise("A3.3", gradient_dissimilarity, "(4), for a client drawn by weight", Evaluation("F", origin, f),
        client_grad2=norm2(fi))

    p.step("deviation", norm2(n) <= G2, {"A3.3": 1, "by weight": 2}, "n", "condition B is 1",
        why="Assumption 3.3 with B = 1")
    p.induct("warm-up", lambda k: le(norm2(past(k)), k * G2), j, warm_up, base="nothing",
        step=({"hypothesis": 1, "independent": 2, "deviation": 1}, "next"), why="all rounds of the warm-up",
        words=("no round", "variances add up"))
    p.step("first momentum", first <= G2 / warm_up, {"momentum": 1 / warm_up**2, "warm-up": 1 / warm_up**2},
        why="a mean of so many has this variance")
    p.cite_mean("D.5", mean <= 5 * (gap_0 + sp.Rational(288, 23) * eta_l * E / a * first) / (eta_l * R * E)
        + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2, "lemma_d_5/corrected", mean, {gap_0: gap_0, h2_0: first},
        "first >= 0", why="Lemma D.5 for this first momentum")
    p.conclude(mean <= p.bound, {"D.5": 1, "first momentum": sp.Rational(1440, 23) / (a * R)},
        why="1440/23 <= 63" + (", and a <= 1" if p.reading == "as_printed" else ""))
    return p.done()
