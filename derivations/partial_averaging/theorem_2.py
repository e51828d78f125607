"""The proof of Theorem 2 (partial model averaging, Appendix C): Lemma 1, then Lemma 2 for the discrepancy in it.

The vectors of Lemma 2 are those of stretches. The others are of an iteration r, whole models, with <u, v> the mean over
the clients of the expectation of the inner product; points are relative to u, the averaged model.

    z(r)  local model    p(r)  gradient of the client's objective there, and their mean B(r)
    h(r)  gradient of the client's objective at u, and their mean s(r), the gradient of F there
    e(r, i)  p_i times the noise of client i, so that u' = u - eta (B + e(r, 0) + ... + e(r, m-1))
    gap(r)   expected gap at u

A name that ends in L has the blocks of the vector times the L_j, one that ends in l times their roots. Where
every block has a constant of its own, the inner products of stretches have the weights L_j^2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise, upper_model
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.laws import Averages, Draws
from boundcheck.proof.proof import Proof, eq, functions, ge, le, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, inner, norm2, vector
from boundcheck.theory.assumptions import (
    block_dissimilarity,
    block_variance,
    bounded_below,
    smooth_globally,
    smooth_weighted,
    total_dissimilarity,
)

READINGS = ("corrected", "weighted", "separable", "as_printed_appendix_separable", "as_printed_appendix",
    "as_printed_main", "as_printed_main_separable")
LEMMA_2 = "partial_averaging/lemma_2/as_printed"
COUPLED = "partial_averaging/lemma_1/as_printed"  # where (19) and (30) fail for coupled blocks

eta, tau, K, m, Lmax, beta2, kappa2, sigma2, gap_0 = symbols("eta tau K m Lmax beta2 kappa2 sigma2 gap_0")
sum_p2, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2 = symbols(  # noqa: N816
    "sum_p2 sum_L_sigma2 sum_L2_sigma2 sum_L2_kappa2")
mean, r, i, share_of_one, one_client, other_client = symbols("mean r i share_of_one one_client other_client")
gap, p2, scaled, u = functions("gap"), functions("p2")(i), functions("scaled")(r), Vector(())  # p2: p_i^2
z, P, B, h, s, B_root, P_scaled, h_scaled, s_scaled, move = (
    vector(name, r) for name in ("z", "p", "B", "h", "s", "Bl", "pL", "hL", "sL", "move"))  # P is p(r)
e, e_root = vector("e", r, i), vector("el", r, i)
E, E_root = (vector_total(v, i, m) for v in (e, e_root))
A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
D = 1 - A - A * beta2
at_u, at_own = Evaluation("f_i", u, h, which=r), Evaluation("f_i", z, P, which=r)
F_at_u, F_next = Evaluation("F", u, s, gap(r)), Evaluation("F", (B + E) * -eta, value=gap(r + 1))
DESCENT = upper_model("descent", smooth_weighted,
    "(19): a Hessian whose square is at most diag(L_j^2) is at most diag(L_j)", F_at_u, F_next,
    scaled_move2=norm2(move))
SMOOTH = pointwise("smooth", smooth_weighted, "(30), over all blocks", at_u, at_own, scaled_difference2=scaled)


class Case(NamedTuple):
    """What the readings call differently."""

    size: Any  # Lmax where one constant holds for the whole gradient, 1 where what follows has the L_j in it
    noise: Vector  # of one client
    step: Vector  # of the averaged model, by -eta
    of_client: Any  # variance of a client's noise
    models: Any  # squared distance of the models from u
    gradients: Any  # squared gradients there
    of_stretches: Any  # variance in Lemma 2
    kappa: Any  # of Assumption 4
    share: Any = sum_p2  # of a client's variance in that of the averaged noise
    weight2: Any = p2  # the same of one client
    averages: str = "averages_as_objective"
    coupled: bool = False  # Assumption 1 block by block, so that blocks may be coupled
    foreign: bool = False  # the weights of F are others than those of the averages

    @property
    def apart(self) -> Any:
        """How far the models are apart, as (30) measures it."""
        return self.size**2 * self.models


ONE_CONSTANT = Case(Lmax, e, B + E, sigma2, norm2(z), norm2(P), sigma2, kappa2)
BY_BLOCK = Case(sp.S.One, e_root, B_root + E_root, sum_L_sigma2, scaled, norm2(P_scaled), sum_L2_sigma2, sum_L2_kappa2)
PLAIN = BY_BLOCK._replace(share=1 / m, weight2=1 / m**2, averages="averages_uniformly")
CASES = {
    "corrected": ONE_CONSTANT,
    "weighted": BY_BLOCK,
    "separable": BY_BLOCK,
    "as_printed_appendix_separable": PLAIN,
    "as_printed_appendix": PLAIN._replace(coupled=True),
    "as_printed_main": PLAIN._replace(coupled=True, foreign=True),
    "as_printed_main_separable": PLAIN._replace(foreign=True),
}


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    c, drift = CASES[statement.reading], derivation_of(LEMMA_2)
    whole = c is ONE_CONSTANT
    of_iterations = (z, P, B, h, s, B_root, P_scaled, h_scaled, s_scaled)
    steps = Draws("steps", "block_variance", ((e, u),) if whole else ((e, u), (e_root, u)),
        (s, B) if whole else (s, B, B_root), time=r)
    p = Proof(statement, mean, drawn=(*drift.drawn, *((v, r) for v in of_iterations), (e, r + 1), (e_root, r + 1)),
        laws=(*(replace(law, of=c.averages) if law.name == "clients" else law for law in drift.laws), steps,
            Averages("means", c.averages, ((P, B),) if c.foreign else ((h, s), (P, B)))))
    known(p, c)
    p.take_steps(LEMMA_2)
    if c.coupled:
        p.take_steps(COUPLED, "(19) for coupled blocks", "(30) for coupled blocks")
        p.step("descent", DESCENT.claim, "(19) for coupled blocks", "move", why="as if Assumption 1 gave it")
        p.step("smooth", SMOOTH.claim, "(30) for coupled blocks", "move", why="as if Assumption 1 gave it")
    lemma_1(p, c)
    lemma_3(p, c)
    conclusion(p, c)
    return p.done()


def known(p: Proof, c: Case) -> None:
    """What is known of the iterations, besides that of Lemma 2."""
    measured = {f.name: f.claim for f in derivation_of(LEMMA_2).facts}
    p.take_facts(LEMMA_2, skip=("mean", "local", "sigma2"))
    if "appendix" not in p.reading:
        p.count("clients", m >= 1, "the clients")
    p.index(r, K, "iterations")
    p.index(i, m, "clients")
    p.known("mean", eq(mean, total(norm2(s), r, K) / K), "over u_1, ..., u_K")
    p.known("start", eq(gap_0, gap(0)), "the gap of the common start")
    p.pointwise("bounded", bounded_below, "inf F is finite", gap=gap(K))
    if c is ONE_CONSTANT:
        p.upper_model("descent", smooth_globally, "(19)", F_at_u, F_next)
        p.pointwise("smooth", smooth_globally, "(30), for the whole gradient", at_u, at_own)
        p.pointwise("dissimilar", total_dissimilarity, "Assumption 4", Evaluation("F", u, s), client_grad2=norm2(h))
    else:
        p.define(move, (B_root + E_root) * eta, "the step of the averaged model, scaled", name="move")
        if not c.coupled:
            p.add(DESCENT, SMOOTH)
        p.pointwise("dissimilar", block_dissimilarity, "Assumption 4, the blocks added up with the weights L_j^2",
            Evaluation("F", u, s), client_grad2=norm2(h_scaled), grad2=norm2(s_scaled), kappa2_j=sum_L2_kappa2)
        p.known("largest B", norm2(B_root) <= Lmax * norm2(B), "every L_j is at most Lmax")
        p.known("largest s", norm2(s_scaled) <= Lmax**2 * norm2(s), "likewise")
        p.known("largest p - h", norm2(P_scaled - h_scaled) <= Lmax**2 * norm2(P - h), "likewise")
    if c.coupled:
        p.take_facts(COUPLED, "across")
    p.pointwise("noise of a client", block_variance, "i, times p_i", draw_deviation2=c.noise, weight2=c.weight2,
        deviation2=c.of_client)
    if c.foreign:
        p.known("weights", sum_p2 >= 1 / m, "weights that add up to 1")
    elif c.share == sum_p2:
        p.known("weights", eq(sum_p2, total(p2, i, m)), "what sum_p2 is")
    p.known("iterations", total(c.models, r, K) / K <= measured["mean"].rhs,
        "every iteration of a block is a step of one stretch")
    p.known("local gradients", measured["local"].rhs <= total(c.gradients, r, K) / K,
        "and every step of a stretch is an iteration")
    p.known("sigma2", measured["sigma2"].lhs <= c.of_stretches, "every block makes K steps")
    if c.foreign:
        p.range("share of one", sp.And(share_of_one > 0, share_of_one < 1), "a client's weight in F")


def lemma_1(p: Proof, c: Case) -> None:
    """(19) to (30), and (18)."""
    noise, weights = c.share * c.size * c.of_client, ("weights",) if c.share == sum_p2 else ()
    largest, moved = ({}, ()) if c is ONE_CONSTANT else ({"largest B": 1}, ("move",))
    p.sum_over("every client", total(c.weight2 * c.of_client - norm2(c.noise), i, m) >= 0, "noise of a client", i, m,
        why="independent noise of the clients")
    p.expected("(26)", norm2(c.step) <= Lmax / c.size * norm2(B) + c.share * c.of_client, "steps",
        {"every client": 1}, largest, *weights, why="the noise has mean 0")
    p.expected("unbiased", inner(s, B + E) >= inner(s, B), "steps", why="likewise")
    p.step("(27)", gap(r + 1) <= gap(r) - eta * inner(s, B) + eta**2 / 2 * (Lmax * norm2(B) + noise),
        {"descent": 1, "unbiased": eta, "(26)": eta**2 / 2 * c.size}, *moved, why="(19) with the expectations put in")
    if c.foreign:
        p.step("(30) for other weights", le((share_of_one * one_client + (1 - share_of_one) * other_client
            - (one_client + other_client) / 2)**2, 0),
            why="two clients whose models agree: the gradient of F there is the plain mean of theirs")
        p.step("(30)", norm2(s - B) <= scaled, "(30) for other weights", "smooth", why="as if the weights were F's")
    else:
        p.step("square", ge(norm2(h - P - s + B), 0), why="a squared norm")
        p.expected("(30)", norm2(s - B) <= c.apart, "means", {"square": 1, "smooth": 1},
            why="a mean over the clients is no longer than what it is the mean of")
    p.step("decrease", gap(r + 1) <= gap(r) - eta / 2 * norm2(s) + eta / 2 * c.apart + eta**2 / 2 * noise,
        {"(27)": 1, "(30)": eta / 2}, "condition step size",
        why="2 <a, b> = |a|^2 + |b|^2 - |a - b|^2, and eta Lmax <= 1")
    p.add_up("(28)", None, "decrease", gap(r), r, K, why="all iterations")
    p.step("(18)", mean <= 2 * gap_0 / (eta * K) + eta * noise + total(c.apart, r, K) / K,
        {"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}, "mean", "start", why="Lemma 1")


def lemma_3(p: Proof, c: Case) -> None:
    """(112) and (113)."""
    most, scale, grown = Lmax / c.size, c.size**2, eta**2 * tau * (tau - 1)
    compared = 2 * (most**2 * (c.apart + beta2 * norm2(s)) + c.kappa)
    largest = {} if c is ONE_CONSTANT else {"largest s": 2 * beta2, "largest p - h": 2}
    p.step("(112)", c.gradients <= compared, {"smooth": 2 * most**2, "dissimilar": 2}, largest,
        why="the gradients at u subtracted and added")
    p.sum_over("all iterations", total(compared - c.gradients, r, K) >= 0, "(112)", r, K, why="summed")
    p.step("(113)", (1 - A) * total(c.apart, r, K) / K <= eta**2 * (tau - 1) * scale * c.of_stretches + A * beta2 * mean
        + 2 * grown * scale * c.kappa, {"all stretches": scale, "iterations": scale, "local gradients": scale * grown,
            "all iterations": scale * grown / K, "sigma2": scale * eta**2 * (tau - 1)}, "mean", why="Lemma 3")


def conclusion(p: Proof, c: Case) -> None:
    """(72), solved for the gradients, and what the rounding of 1/D and (1 - A)/D leaves."""
    noise, scale = c.size * c.of_client, c.size**2
    two, three = 2 - (1 - A) / D, 3 - 1 / D
    left = {"domain gap_0": 2 * two / (eta * K), "descent noise": two * eta,
        "drift noise": three * eta**2 * (tau - 1), "dissimilarity": 2 * three * eta**2 * tau * (tau - 1)}
    p.step("descent noise", c.share * noise >= 0, why="a variance")
    if c.foreign:
        p.step("noise of the mean", sum_p2 * noise - noise / m >= 0, "weights",
            why="equal weights have the smallest sum of squares")
        left |= {"descent noise": (two + 2) * eta, "noise of the mean": 4 * eta}
    p.step("drift noise", scale * c.of_stretches >= 0, why="likewise")
    p.step("dissimilarity", scale * c.kappa >= 0, why="a sum of squares")
    p.step("A", A * (2 * beta2 + 1) <= 1, "condition step size and interval", why="the step condition")
    p.step("A >= 0", A >= 0, why="tau is at least 1")
    p.step("D > 0", D > 0, "A", "A >= 0", why="1 - A - A beta^2")
    p.step("at most 2", (1 - A) / D <= 2, "A", "A >= 0", "D > 0", why="A beta^2/(1 - A) <= 1/2")
    p.step("at most 3", 1 / D <= 3, "A", "A >= 0", "D > 0", why="and 1/(1 - A) <= 3/2")
    p.step("1 - A", 1 - A >= 0, "A", "A >= 0", why="A is at most 1/3")
    p.conclude(mean <= p.bound, {"(18)": (1 - A) / D, "(113)": 1 / D}, left, "D > 0", "at most 2", "at most 3", "1 - A",
        why="(72), solved for the gradients")
