"""The recursion of Theorem 5.1 (FedShuffle) where the losses are not convex, as checked steps.

Vectors are random and <u, v> is the expectation, over cohort and orders, of their inner product. k = 0, ..., K-1
counts all steps that all clients make, or would make, in the round.

    slope  gradient of f at the start x     A     what the server adds up: x moves by -et A
    y(k)   local point minus x              g(k)  gradient used there     g0(k)  the same sample's gradient at x
    mean   expectation of A over the cohort   xi  drift of the round      clients  sum of w_i |grad f_i|^2 at x
    a, b   the two parts of 4 beta L et <= 1

The readings share the round. The corrected and the printed one use the non-convex form of Lemma C.2; the printed one
leaves a factor L out when it rounds. The sharp one puts the step condition in only once.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import gradient_dissimilarity, smooth_samples

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = symbols("L G2 B2 P2 sigma2 M E eta_l eta_g")
gap_0, grad2_0, gap_1, K, k = symbols("gap_0 grad2_0 gap_1 K k")
et, H, a, b, xi, clients, moved = symbols("et H a b xi clients moved")
A, mean, slope, start = vector("A"), vector("mean"), vector("slope"), Vector(())
y, g, g0 = vector("y", k), vector("g", k), vector("g0", k)
participation = et**2 * M * L * G2


def derivation(statement: Any) -> Any:
    """The derivation of one reading of the recursion."""
    # an order of all samples is drawn in every epoch
    p = Proof(statement, gap_1, at_start=(xi, clients, moved), squares=(grad2_0, gap_0, G2, sigma2),
        drawn=((slope, 0), (g, 1), (g0, 1), (vector_total(g0, k, K), 0)))
    known(p)
    if p.reading == "sharp":
        p.define(a, 4 * L * E * eta_g * eta_l * (1 + M * B2), "part of the step condition")
        p.define(b, 4 * L * E * eta_g * eta_l * (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2), "the rest of the step condition")
    one_round(p)
    if p.reading == "sharp":
        shared(p)
    else:
        with_lemma_c_2(p)
    return p.done()


def known(p: Proof) -> None:
    """Notation, the round, and the assumptions."""
    p.define(et, E * eta_g * eta_l, "effective step")
    p.define(H, (E**2 + P2 / 3) * G2 + sigma2 / 3, "last factor of Lemma C.2")
    p.count("steps", K >= 1, "steps of all clients in a round")
    p.index(k, K, "steps of all clients in a round")
    p.define(mean, vector_total(g, k, K) / K, "mean of the gradients of all steps")
    p.known("gradient", eq(grad2_0, norm2(slope)), "squared gradient norm at the start")
    p.known("moved", eq(moved, et**2 * norm2(A)), "squared movement of the server's point")
    p.known("drift", eq(xi, total(norm2(y), k, K) / K), "mean over all steps")
    p.known("drift >= 0", xi >= 0, "a mean of squared norms")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.algorithm("unbiased", inner(A, slope) >= inner(mean, slope),
        "client i takes part with probability p_i whatever the orders are, and is weighted by w_i/p_i")
    p.algorithm("whole epochs", eq(vector_total(g0, k, K), slope * K),
        "every epoch uses every sample once, and w_i is client i's share of the samples")
    p.upper_model("descent", smooth_samples,
        "(15) for f, which is L-smooth too, from the start to the point after the round",
        Evaluation("F", start, slope, gap_0), Evaluation("F", A * -et, value=gap_1))
    p.pointwise("A3.2", smooth_samples, "Assumption 3.2", Evaluation("f_ij", y, g, which=k),
        Evaluation("f_ij", start, g0, which=k))
    p.pointwise("A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4)", client_grad2=clients, grad2=grad2_0)


def one_round(p: Proof) -> None:
    """The display before the step condition."""
    p.signs(et > 0, "et", why="the effective step is positive")
    p.sum_over("1", total(norm2(g - g0), k, K) <= L**2 * total(norm2(y), k, K), "A3.2", k, K,
        why="Assumption 3.2 in every step")
    p.square_of_sum("2", g - g0, over=(k, K), why="Lemma B.6")
    p.step("3", inner(mean, slope) >= grad2_0 / 2 - L**2 / 2 * xi, {"2": 1 / (2 * K**2), "1": 1 / (2 * K)}, "mean",
        "whole epochs", "gradient", "drift", why="polarisation; the square of the mean is dropped")
    p.cite("4", moved <= 2 * et**2 * ((1 + M) * L**2 * xi + M * clients + grad2_0), "movement_of_a_round/corrected",
        moved, "clients >= 0", "drift >= 0", why="the bound on A_2 in the proof of Lemma C.1", drift_0=xi,
        client_grad2_0=clients, grad2_0=grad2_0)
    p.step("display", gap_1 <= gap_0 - et / 2 * grad2_0 + et / 2 * L**2 * xi
        + et**2 * L * ((1 + M) * L**2 * xi + M * G2 + (1 + M * B2) * grad2_0),
        {"descent": 1, "unbiased": et, "3": et, "4": L / 2, "A3.3": et**2 * L * M}, "moved", "et > 0",
        why="all put together")


def with_lemma_c_2(p: Proof) -> None:
    """The rest with the non-convex form of Lemma C.2."""
    left = 1 if p.reading == "as_printed" else L
    noise = sp.Rational(9, 4) * L * left * et * eta_l**2 * H
    p.step("step 1", 4 * L * et * (1 + M * B2) <= 1, "et", why="the step condition")
    p.step("step 2", (1 + M) * L * et <= sp.Rational(1, 4), "et", why="with B >= 1")
    p.step("5", gap_1 <= gap_0 - et / 4 * grad2_0 + 3 * et / 4 * L**2 * xi + participation, {"display": 1}, "step 1",
        "step 2", "drift >= 0", "et > 0", why="as printed")
    p.cite("6", xi <= grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H, "lemma_c_2_nonconvex/corrected", xi,
        why="drift of the round", grad2_0=grad2_0)
    p.step("rounding", sp.Rational(12, 7) * L**2 * et * eta_l**2 * H <= noise, "et", "H",
        why="12/7 <= 9/4" if left == L else "12/7 <= 9/4, and one L is left out")
    p.conclude(gap_1 <= gap_0 - et / 8 * grad2_0 + noise + participation,
        {"5": 1, "6": 3 * et / 4 * L**2, "rounding": 1}, "et > 0", why="1/4 - 3/28 >= 1/8")


def shared(p: Proof) -> None:
    """The rest, where the step condition is put in once."""
    own, share = 2 * eta_l**2 * L**2 * E**2, 2 * eta_l**2 * (E**2 + P2 / 3)
    p.signs(b >= 0, "b", why="a product of such")
    p.signs(a >= 0, "a", why="a product of such")
    p.step("a + b", a + b <= 1, "a", "b", why="the step condition")
    p.step("own", own <= b**2 / 8, "b", why="as in Lemma C.2, with B >= 1")
    p.step("share", share * B2 <= b**2 / (8 * L**2), "b", why="as in Lemma C.2")
    p.step("cohort", (1 + M) * L * et <= a / 4, "a", "et", why="as in Lemma C.1")
    p.step("a.1", eq(a, 4 * L * et * (1 + M * B2)), "a", "et", why="by definition")
    p.step("5", gap_1 <= gap_0 - (2 - a) / 4 * et * grad2_0 + (2 + a) / 4 * et * L**2 * xi + participation,
        {"display": 1}, "a.1", "cohort", "drift >= 0", "et > 0", why="in terms of a")
    p.step("local step", eta_l <= 1 / (2 * E * L), why="the drift's own condition")
    p.cite("6.1", xi <= (share * clients + 2 * eta_l**2 * sigma2 / 3) / (1 - own), "drift_of_a_round/corrected", xi,
        "local step", "clients >= 0", why="drift of the round before the step condition", client_grad2_0=clients)
    p.step("6.2", xi <= (share * B2 * grad2_0 + 2 * eta_l**2 * H) / (1 - own),
        {"6.1": 1, "A3.3": share / (1 - own)}, "H", "own", "b >= 0", "a >= 0", "a + b", why="Assumption 3.3")
    p.step("6", xi <= (b**2 / (8 * L**2) * grad2_0 + 2 * eta_l**2 * H) / (1 - b**2 / 8), {"6.2": 1}, "H", "own",
        "share", "b >= 0", "a >= 0", "a + b", why="in terms of b")
    p.conclude(gap_1 <= gap_0 - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * et * eta_l**2 * H + participation,
        {"5": 1, "6": (2 + a) / 4 * et * L**2}, "H", "a >= 0", "b >= 0", "a + b", "et > 0",
        why="(3 - b) b <= 8 - b^2 for 0 <= b <= 1")
