"""The proof of Theorem 5.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

Each reading adds up the same reading of the recursion. The printed one leaves out the hypothesis B >= 1, which the
recursion needs, and inherits the factor L that Lemma C.2 loses.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g = symbols("L G2 B2 P2 sigma2 M E eta_l eta_g")
R, t, mean, dist2_0, gap_0 = symbols("R t mean dist2_0 gap_0")
dist2, gap = functions("dist2 gap")
et, H = E * eta_g * eta_l, (E**2 + P2 / 3) * G2 + sigma2 / 3


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, rounds=((dist2(t), t), (gap(t), t)))
    p.index(t, R, "rounds")
    p.known("mean", eq(mean, total(gap(t), t, R) / R), "over the rounds 0 to R - 1, all alike")
    p.known("start", eq(dist2_0, dist2(0)), "the distance of the start")
    p.known("dist2 >= 0", dist2(t) >= 0, "a mean of squared norms")
    p.known("last", dist2(R) >= 0, "a mean of squared norms")
    p.known("gap >= 0", gap(t) >= 0, "F* is the infimum of F")

    needs = ["dist2 >= 0", "gap >= 0"]
    if p.reading == "as_printed":
        p.step("B at least 1", B2 >= 1, why="the recursion needs it")
        needs.append("B at least 1")
    share = et if p.reading == "sharp" else et / 10
    factor = {"sharp": 5 * L, "corrected": 9 * L, "as_printed": 9}[p.reading]
    noise = 2 * et**2 * M * G2 + factor * et * eta_l**2 * H
    p.cite_mean("decrease", dist2(t + 1) <= dist2(t) - share * gap(t) + noise, f"recursion_convex/{p.reading}",
        dist2(t + 1), {dist2_0: dist2(t), gap_0: gap(t)}, *needs, why="the recursion in every round", mu=0)
    p.add_up("sum", dist2(R) <= dist2(0) + total(-share * gap(t) + noise, t, R), "decrease", dist2(t), t, R,
        why="all rounds")
    p.step("share > 0", share > 0, why="a product of positive numbers")
    p.conclude(mean <= p.bound, {"sum": 1 / (share * R), "last": 1 / (share * R)}, "start", "mean", "share > 0",
        why="divided by R and by what a round gains")
    return p.done()
