"""The proof of Lemma 1 (partial model averaging, Appendix B) as checked steps.

Vectors are random and <u, v> is the expectation of their inner product. r counts the iterations that are done, i the
clients. A vector whose name ends in l has the blocks of the one without it, times the roots of the L_j.

    s(r)     gradient of F at u, the averaged model     b(r, i)   p_i times the gradient of F_i at its own model x_i
    g(r, i)  its stochastic form, so that u' = u - eta (g(r, 0) + ... + g(r, m-1))
    c(r, k)  grad F_i(u) of a client that is drawn with the weights p_i       cx(r, k)  grad F_i(x_i) of the same client
    gap(r)   expected gap at u                          apart(r)  sum of p_i L_j^2 E|u_j - x_ij|^2

The identity (21) is used for the sum of the b(r, i), not worker by worker, so that the clients may differ. The printed
reading takes Assumption 1 block by block, so that (19) and (30) are no instances of it but steps, which fail for

    F = Lmax (one^2 + other^2)/2 + across one other,    two blocks of one number, 0 <= across <= Lmax,

whose gradient is Lmax-Lipschitz in each block, and which is convex.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.laws import Draws
from boundcheck.proof.proof import Proof, eq, functions, ge, le, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import block_variance, bounded_below, smooth_weighted

READINGS = ("corrected", "as_printed")

eta, K, m, Lmax, sum_p2, noise, gap_0, apart_mean = symbols("eta K m Lmax sum_p2 sum_L_sigma2 gap_0 L2_discrepancy")
r, i, k, mean, one, other, across = symbols("r i k mean one other across")
gap, p2, apart = functions("gap"), functions("p2")(i), functions("apart")(r)  # p2: p_i^2
s, c, cx, move, averaged = vector("s", r), vector("c", r, k), vector("cx", r, k), vector("move", r), vector("B", r)
g, gl, b, bl = (vector(name, r, i) for name in ("g", "gl", "b", "bl"))
u, x = Vector(()), vector("x", r, k)  # the averaged model, to which points are relative, and that of the drawn client
G, GL, B, BL = (vector_total(v, i, m) for v in (g, gl, b, bl))

CLIENTS = Draws("client", "averages_as_objective", ((c, s), (cx, averaged), (x, u)), (s, averaged, b), time=r)
NOISE = Draws("noise", "block_variance", ((g, b), (gl, bl)), (b, bl, s), time=r)
DESCENT = upper_model("descent", smooth_weighted,
    "(19) for u' = u - eta g: a Hessian whose square is at most diag(L_j^2) is at most diag(L_j)",
    Evaluation("F", u, s, gap(r)), Evaluation("F", G * -eta, value=gap(r + 1)), scaled_move2=norm2(move))
SMOOTH = pointwise("smooth", smooth_weighted,
    "one inequality over all blocks, for the client's objective without its linear part at its own model",
    Evaluation("f_i", u, c.at(k, 0), which=r), Evaluation("f_i", x.at(k, 0), cx.at(k, 0), which=r),
    scaled_difference2=apart)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, laws=(CLIENTS, NOISE))
    if p.reading == "as_printed":
        coupled(p)
    else:
        p.index(r, K, "iterations")
        p.count("clients", m >= 1, "the clients")
    p.index(i, m, "clients")
    p.define(averaged, B, "the averaged gradient", name="B")
    p.define(move, GL * eta, "the step of the averaged model, scaled", name="move")
    p.known("mean", eq(mean, total(norm2(s), r, K) / K), "over u_1, ..., u_K")
    p.known("discrepancy", eq(apart_mean, total(apart, r, K) / K), "as measured")
    p.known("start", eq(gap_0, gap(0)), "the gap of the common start")
    p.known("weights", eq(sum_p2, total(p2, i, m)), "what sum_p2 is")
    p.known("largest", norm2(BL) <= Lmax * norm2(B), "every L_j is at most Lmax")
    p.pointwise("bounded", bounded_below, "inf F is finite", gap=gap(K))
    if p.reading == "corrected":
        p.add(DESCENT)
    p.pointwise("noise", block_variance, "(23) to (26), the blocks added up with the weights L_j",
        draw_deviation2=gl - bl, weight2=p2, deviation2=noise)
    if p.reading == "corrected":
        p.add(SMOOTH)

    p.step("square", ge(norm2((c - cx).at(k, 0) - s + averaged), 0), why="a squared norm")
    p.expected("(30)", norm2(s - averaged) <= apart, "client", {"smooth": 1, "square": 1},
        why="Jensen's inequality over the clients")
    p.step("(22)", 2 * inner(s, B) >= norm2(s) + norm2(B) - apart, {"(30)": 1}, "B",
        why="2 <a, b> = |a|^2 + |b|^2 - |a - b|^2")
    p.expected("one client", norm2(gl) - norm2(bl) <= p2 * noise, "noise", {"noise": 1}, why="the noise has mean 0")
    p.sum_over("all clients", total(norm2(gl) - norm2(bl), i, m) <= total(p2, i, m) * noise, "one client", i, m,
        why="independent noise of the clients")
    p.expected("step", norm2(GL) <= norm2(BL) + sum_p2 * noise, "noise", {"all clients": 1}, "weights",
        why="(23) to (26)")
    p.expected("unbiased", inner(s, G) >= inner(s, B), "noise", why="E g is the mean")
    p.step("decrease", gap(r + 1) <= gap(r) - eta / 2 * norm2(s) + eta / 2 * apart + eta**2 / 2 * sum_p2 * noise,
        {"descent": 1, "unbiased": eta, "step": eta**2 / 2, "largest": eta**2 / 2, "(22)": eta / 2}, "move",
        "condition step size", why="eta Lmax <= 1 leaves nothing of |gb|^2")
    p.add_up("(28)", None, "decrease", gap(r), r, K, why="all iterations")
    p.conclude(mean <= 2 * gap_0 / (eta * K) + eta * sum_p2 * noise + apart_mean,
        {"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}, "mean", "discrepancy", "start", why="(18)")
    return p.done()


def coupled(p: Proof) -> None:
    """The printed reading: equal weights, and (19) and (30) as if Assumption 1, block by block, gave them."""
    p.range("across", sp.And(across >= 0, across <= Lmax), "how two blocks may be coupled")
    p.define(sum_p2, 1 / m, "all clients have the same weight", name="equal weights")
    p.index(r, K, "iterations")
    p.step("(19) for coupled blocks",
        le(Lmax * (one**2 + other**2) / 2 + across * one * other, Lmax * (one**2 + other**2) / 2),
        why="F at the move (one, other) from its minimum, by the sum of L_j/2 times the squares of the blocks")
    p.step("(30) for coupled blocks",
        le((Lmax * one + across * other)**2 + (Lmax * other + across * one)**2, Lmax**2 * (one**2 + other**2)),
        why="the difference of its gradients there, by the sum of L_j^2 times the squares of the blocks")
    p.step("descent", DESCENT.claim, "(19) for coupled blocks", why="as if Assumption 1 gave it")
    p.step("smooth", SMOOTH.claim, "(30) for coupled blocks", why="as if Assumption 1 gave it")
    p.step("clients", m >= 1, why="the clients")
