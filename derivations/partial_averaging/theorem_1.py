"""The proof of Theorem 1 (partial model averaging, Appendix B): the framework without a dropped term, and Lemma 2.

Vectors, facts and first steps are those of Theorem 2 up to (27), with equal weights; here every client's objective is
F, so that h = s, and the identity (21) holds worker by worker. It leaves a multiple of the local gradients p, which
pays for those in Lemma 2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, functions, ge, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import inner, norm2, vector

READINGS = ("corrected", "global", "separable", "as_printed")
TAKEN = {"global": "corrected", "as_printed": "as_printed_appendix"}  # the reading of Theorem 2, else "weighted"

eta, tau, K, m, Lmax, sigma2, gap_0, mean, sum_p2, r = symbols("eta tau K m Lmax sigma2 gap_0 mean sum_p2 r")
sum_L_sigma2, sum_L2_sigma2 = symbols("sum_L_sigma2 sum_L2_sigma2")  # noqa: N816
gap, scaled = functions("gap"), functions("scaled")(r)
z, P, B, h, s, P_scaled = (vector(name, r) for name in ("z", "p", "B", "h", "s", "pL"))  # P is p(r)


def derivation(statement: Any) -> Any:
    """The derivation of one reading; "global" has one constant for the whole gradient, the others one a block."""
    general = derivation_of(f"partial_averaging/theorem_2/{TAKEN.get(statement.reading, 'weighted')}")
    theorem_2, names = general.statement.id, [step.name for step in general.steps]
    whole = statement.reading == "global"
    scale, models, noise, of_stretches = sp.S.One, scaled, sum_L_sigma2, sum_L2_sigma2
    if whole:
        scale, models, noise, of_stretches = Lmax**2, norm2(z), Lmax * sigma2, sigma2
    apart, mean_apart, local = scale * models, total(scale * models, r, K) / K, total(norm2(P), r, K) / K

    p = Proof(statement, mean, drawn=general.drawn, laws=general.laws)
    weights: tuple[str, ...] = ()
    if p.reading != "as_printed":
        p.define(sum_p2, 1 / m, "all clients have the same weight")
        weights = ("sum_p2",)
    p.take_facts(theorem_2, skip=("clients", "dissimilar", "largest s", "largest p - h"))
    if not whole:
        p.known("largest p", norm2(P_scaled) <= Lmax**2 * norm2(P), "every L_j is at most Lmax")
    p.assume("IID", "iid_clients", eq(h, s), "every client's objective is F")

    p.take_steps(theorem_2, *names[: names.index("(27)") + 1])
    p.expected("(21)", 2 * inner(s, B) >= norm2(s) + norm2(P) - apart, "means", {"smooth": 1}, "IID",
        why="2 <a, b> = |a|^2 + |b|^2 - |a - b|^2 for every client, and (30)")
    p.step("spread", ge(norm2(P - B), 0), why="a squared norm")
    p.expected("(24)", norm2(B) <= norm2(P), "means", {"spread": 1}, why="Jensen's inequality")
    p.step("decrease", gap(r + 1) <= gap(r) - eta / 2 * norm2(s) + eta / 2 * apart
        + eta / 2 * (eta * Lmax - 1) * norm2(P) + eta**2 / (2 * m) * noise,
        {"(27)": 1, "(21)": eta / 2, "(24)": eta**2 * Lmax / 2}, *weights, why="(27), with nothing dropped")
    p.add_up("(28)", None, "decrease", gap(r), r, K, why="all iterations")
    p.step("(29)", mean <= 2 * gap_0 / (eta * K) + eta / m * noise + mean_apart + (eta * Lmax - 1) * local,
        {"(28)": 2 / (eta * K), "bounded": 2 / (eta * K)}, "mean", "start", why="divided by K and half the step")
    grown, largest = eta**2 * tau * (tau - 1), {}
    if not whole:
        p.sum_over("largest gradients", total(Lmax**2 * norm2(P) - norm2(P_scaled), r, K) >= 0, "largest p", r, K,
            why="every L_j is at most Lmax")
        largest = {"largest gradients": grown / K}
    p.step("Lemma 2", mean_apart <= eta**2 * (tau - 1) * scale * of_stretches + grown * Lmax**2 * local,
        {"all stretches": scale, "iterations": scale, "local gradients": scale * grown,
            "sigma2": scale * eta**2 * (tau - 1)}, largest, why="for these models")
    p.conclude(mean <= p.bound, {"(29)": 1, "Lemma 2": 1}, "condition step size",
        why="(16): the step condition leaves nothing of the local gradients")
    return p.done()
