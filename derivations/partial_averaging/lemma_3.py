"""The proof of Lemma 3 (partial model averaging, Appendix C): the discrepancy by the gradients at the averaged model.

Lemma 2 bounds how far the models drift by the clients' gradients at their own models; these are here compared with
the gradients at the averaged model u. The vectors of Lemma 2 are those of stretches; the others are of an iteration r,
whole models, with <u, v> the mean over the clients of the expectation of the inner product, and points relative to u:

    z(r)  local model        p(r)  gradient of the client's objective there
    h(r)  gradient of the client's objective at u        s(r)  gradient of F at u
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, functions, le, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import Vector, norm2, vector
from boundcheck.theory.assumptions import block_dissimilarity, smooth_globally, smooth_weighted, total_dissimilarity

READINGS = ("corrected", "without_gradients", "as_printed_separable", "as_printed")
LEMMA_2, THEOREM_2 = "partial_averaging/lemma_2/as_printed", "partial_averaging/theorem_2/corrected"

eta, tau, K, Lmax, beta2, kappa2, sigma2, mean_grad2 = symbols("eta tau K Lmax beta2 kappa2 sigma2 mean_grad2")
apart, r, one, other, across = symbols("apart r one other across")
scaled, u = functions("scaled")(r), Vector(())
z, P, h, s = (vector(name, r) for name in ("z", "p", "h", "s"))  # P is p(r)
A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
at_u, at_own = Evaluation("f_i", u, h, which=r), Evaluation("f_i", z, P, which=r)
of_models, of_gradients, at_mean = (total(norm2(v), r, K) / K for v in (z, P, s))
BLOCKS = pointwise("blocks", smooth_weighted, "(111), the blocks added up", at_u, at_own, scaled_difference2=scaled)


def derivation(statement: Any) -> Any:
    """The derivation of one reading: the gradients at u as measured, or by Theorem 2."""
    return by_theorem_2(statement) if statement.reading == "without_gradients" else as_measured(statement)


def as_measured(statement: Any) -> Any:
    """The discrepancy by the gradients at u; the corrected reading has one constant for the whole gradient."""
    drift, whole = derivation_of(LEMMA_2), statement.reading == "corrected"
    averages = "averages_as_objective" if whole else "averages_uniformly"
    p = Proof(statement, apart, drawn=(*drift.drawn, *((v, r) for v in (z, P, h, s))),
        laws=tuple(replace(law, of=averages) if law.name == "clients" else law for law in drift.laws))
    measured = {f.name: f.claim for f in drift.facts}
    p.take_facts(LEMMA_2, skip=("mean", "local"))
    p.index(r, K, "iterations")
    one_constant(p) if whole else by_block(p)
    p.known("discrepancy", eq(apart, of_models), "over the first K iterations")
    p.known("mean", eq(mean_grad2, at_mean), "as measured")
    p.known("iterations", of_models <= measured["mean"].rhs, "every iteration of a block is a step of one stretch")
    p.known("local gradients", measured["local"].rhs <= of_gradients, "and every step of a stretch is an iteration")
    p.take_steps(LEMMA_2)
    p.step("(112)", norm2(P) <= 2 * Lmax**2 * norm2(z) + 2 * beta2 * norm2(s) + 2 * kappa2,
        {"smooth": 2, "dissimilar": 2}, why="the gradients at u subtracted and added")
    p.sum_over("all iterations", 2 * Lmax**2 * total(norm2(z), r, K) + 2 * beta2 * total(norm2(s), r, K)
        + 2 * K * kappa2 - total(norm2(P), r, K) >= 0, "(112)", r, K, why="summed")
    solved(p, "(113)", mean_grad2)
    p.conclude(apart <= p.bound, {"(113)": 1 / (1 - A)}, "condition A below 1", why="solved for the discrepancy")
    return p.done()


def one_constant(p: Proof) -> None:
    """Assumptions on the whole gradient."""
    p.pointwise("smooth", smooth_globally, "(111), for the whole gradient", at_u, at_own)
    p.pointwise("dissimilar", total_dissimilarity, "Assumption 4", Evaluation("F", u, s), client_grad2=norm2(h))


def by_block(p: Proof) -> None:
    """Assumptions on the blocks; the printed reading takes (111), for every block, as if Assumption 1 gave it."""
    if p.reading == "as_printed_separable":
        p.add(BLOCKS)
    p.known("largest", scaled <= Lmax**2 * norm2(z), "every L_j is at most Lmax")
    p.pointwise("dissimilar", block_dissimilarity, "Assumption 4, the blocks added up", Evaluation("F", u, s),
        client_grad2=norm2(h), kappa2_j=kappa2)
    if p.reading == "as_printed":
        p.range("across", sp.And(across >= 0, across <= Lmax), "how two blocks may be coupled")
        p.step("(111) for coupled blocks", le((Lmax * one + across * other)**2, Lmax**2 * one**2),
            why="F = Lmax (one^2 + other^2)/2 + across one other: block 1 of its gradient, by the square of block 1")
        p.step("blocks", BLOCKS.claim, "(111) for coupled blocks", why="as if Assumption 1 gave it")
    p.step("smooth", norm2(h - P) <= Lmax**2 * norm2(z), {"blocks": 1, "largest": 1},
        why="with the largest L_j for each block")


def by_theorem_2(statement: Any) -> Any:
    """With Theorem 2 for the gradients at u, whose derivation has the rest as well."""
    theorem = derivation_of(THEOREM_2)
    p = Proof(statement, apart, drawn=theorem.drawn, laws=theorem.laws)
    p.take_facts(THEOREM_2)
    p.known("discrepancy", eq(apart, of_models), "over the first K iterations")
    p.take_steps(THEOREM_2)
    p.add(replace(theorem.steps[-1], name="Theorem 2"))
    solved(p, "solved", theorem.target)
    p.conclude(apart <= p.bound, {"solved": 1 / (1 - A), "Theorem 2": 2 * eta**2 * tau * (tau - 1) * beta2 / (1 - A)},
        "condition A below 1", why="the gradients at u bounded")
    return p.done()


def solved(p: Proof, name: str, of_u: Any) -> None:
    """(113); of_u: the mean squared gradient at u."""
    grown = eta**2 * tau * (tau - 1)
    p.step(name, (1 - A) * apart <= eta**2 * (tau - 1) * sigma2 + 2 * grown * (beta2 * of_u + kappa2),
        {"all stretches": 1, "iterations": 1, "local gradients": grown, "all iterations": grown / K,
            "sigma2": eta**2 * (tau - 1)}, "discrepancy", "mean",
        why="Lemma 2, and the clients' gradients by those at u")
