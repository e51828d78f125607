"""The proof of Theorem 5.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected objective gap after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

Each reading adds up the same reading of the recursion. The printed one leaves out the hypothesis B >= 1, which the
recursion needs, and inherits the factor L that Lemma C.2 loses.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = symbols("L G2 B2 P2 sigma2 M E eta_l eta_g")
R, t, mean, gap_0, grad2_0 = symbols("R t mean gap_0 grad2_0")
gap, G = functions("gap G")
et, H = E * eta_g * eta_l, (E**2 + P2 / 3) * G2 + sigma2 / 3


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, rounds=((gap(t), t), (G(t), t)))
    p.index(t, R, "rounds")
    p.known("mean", eq(mean, total(G(t), t, R) / R), "over the rounds 0 to R - 1, all alike")
    p.known("start", eq(gap_0, gap(0)), "the gap of the start")
    p.known("gap >= 0", gap(t) >= 0, "F* is the infimum of F")
    p.known("G >= 0", G(t) >= 0, "a mean of squared norms")
    p.assume("last", "bounded_below", gap(R) >= 0, "F* is finite")

    needs = ["gap >= 0", "G >= 0"]
    if p.reading == "as_printed":
        p.step("B at least 1", B2 >= 1, why="the recursion needs it")
        needs.append("B at least 1")
    share = et / (4 if p.reading == "sharp" else 8)
    factor = {"sharp": 3 * L / 2, "corrected": 9 * L / 4, "as_printed": sp.Rational(9, 4)}[p.reading]
    noise = et**2 * M * L * G2 + factor * L * et * eta_l**2 * H
    p.cite_mean("decrease", gap(t + 1) <= gap(t) - share * G(t) + noise, f"recursion_nonconvex/{p.reading}",
        gap(t + 1), {gap_0: gap(t), grad2_0: G(t)}, *needs, why="the recursion in every round")
    p.add_up("sum", gap(R) <= gap(0) + total(-share * G(t) + noise, t, R), "decrease", gap(t), t, R, why="all rounds")
    p.step("share > 0", share > 0, why="a product of positive numbers")
    p.conclude(mean <= p.bound, {"sum": 1 / (share * R), "last": 1 / (share * R)}, "start", "mean", "share > 0",
        why="divided by R and by what a round gains")
    return p.done()
