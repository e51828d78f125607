"""How far one round of FedShuffleGen moves the server's point (FedShuffle, proof of Lemma E.3) as checked steps.

Vectors are random, and <u, v> is the expectation of their inner product over cohort, orders, and a client that is drawn
with the probability what_i, its weight in fhat. Where a law draws again, number 0 is the first draw.

    A(a)  what the server adds up, so that x moves by -et A: the weighted sum of the cohort's mean gradients
    mean  its expectation over the cohort: sum of what_i G_i        slope  gradient of fhat at the start x
    G(a)  mean gradient of the visit of the client drawn            gf(a)  gradient of its loss at x
    error mean squared distance of G to gf                          squares  bound of Lemma E.5 on the variance
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.laws import Draws
from boundcheck.proof.proof import Proof, eq, ge, symbols
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected",)

L, M1, W, eta_l, eta_g = symbols("L M1 W eta_l eta_g")
drift_0, visit_drift_0, client_grad2_0, grad2_0 = symbols("drift_0 visit_drift_0 client_grad2_0 grad2_0")
a, et, moved, visits, error, squares = symbols("a et moved visits error squares")
mean, slope, u = vector("mean"), vector("slope"), vector("u")
sent, gradients, own = vector("A", a), vector("G", a), vector("gf", a)
A, G, gf = (v.at(a, 0) for v in (sent, gradients, own))

CLIENT = Draws("client", "followed_objective", ((gradients, mean), (own, slope)), (mean, slope, u))
COHORT = Draws("cohort", "fedshuffle_gen", ((sent, mean),), (mean, slope, u))


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, moved, at_start=(visits, error), laws=(CLIENT, COHORT))
    p.define(et, W * eta_g * eta_l, "effective step")
    p.known("moved", eq(moved, et**2 * norm2(A)), "the round moves the server's point by -et A")
    p.known("drift", eq(drift_0, visits), "the mean over the clients")
    p.known("error", eq(error, norm2(G - gf)), "squared distance of a visit's mean gradient")
    p.known("gradient", eq(grad2_0, norm2(slope)), "squared gradient norm at the start")
    p.known("gradients", eq(client_grad2_0, norm2(gf)), "client i is drawn with its weight")
    p.algorithm("participation", sp.And(squares >= 0, squares <= M1 * norm2(G)),
        "squares is the sum of h_i s_i |what_i G_i|^2, and M1 >= h_i s_i what_i")

    p.cite_mean("1", error <= L**2 * visits, "gradient_of_a_visit/corrected", error, {visit_drift_0: visits}, "drift",
        why="Assumption 3.2 in every step, and whole epochs")
    p.step("2.1", ge(norm2(G - gf - mean + slope), 0), why="a squared norm")
    p.expected("2.2", norm2(mean - slope) <= error, "client", {"2.1": 1}, "error",
        why="Jensen: the square of the clients' mean is at most the mean of the squares")
    p.step("2", norm2(mean) <= 2 * L**2 * drift_0 + 2 * grad2_0, {"1": 2, "2.2": 2}, "drift", "gradient",
        why="Lemma B.6 with a = 1")
    p.step("3", norm2(G) <= 2 * L**2 * drift_0 + 2 * client_grad2_0, {"1": 2}, "error", "drift", "gradients",
        why="Lemma B.6 with a = 1")
    p.cite("4.1", norm2(A - mean) <= squares, "lemma_e_5/corrected", norm2(A - mean), "participation",
        why="Lemma E.5 for the clients' means, in expectation over the orders", weighted_squares=squares)
    p.expected("4.2", norm2(A) <= squares + norm2(mean), "cohort", {"4.1": 1}, why="(17): variance and mean")
    p.step("4", norm2(A) <= 2 * (1 + M1) * L**2 * drift_0 + 2 * M1 * client_grad2_0 + 2 * grad2_0,
        {"4.2": 1, "participation.1": 1, "2": 1, "3": M1}, "participation", why="together")
    p.conclude(moved <= 2 * et**2 * ((1 + M1) * L**2 * drift_0 + M1 * client_grad2_0 + grad2_0),
        {"4": W**2 * eta_g**2 * eta_l**2}, "moved", "et", why="times et^2")
    return p.done()
