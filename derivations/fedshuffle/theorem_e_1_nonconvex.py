"""The proof of Theorem E.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected gap of fhat after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

The corrected bound is larger than the sharp one, term by term. The printed one needs the step conditions and B >= 1 for
the same average, and its middle term lacks L and W^2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected", "as_printed", "sharp")

L, G2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g = symbols("L G2 P2_gen sigma2_gen M1 W eta_l eta_g")
R, t, mean, gap_0, grad2_0 = symbols("R t mean gap_0 grad2_0")
gap, G = functions("gap G")
et, H = W * eta_g * eta_l, (1 + P2_gen) * G2 + sigma2_gen


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, rounds=((gap(t), t), (G(t), t)))
    if p.reading != "sharp":
        p.from_sharper("theorem_e_1_nonconvex/sharp", mean, slip="the middle term lacks L and W^2", gap_0=gap_0)
        return p.done()
    p.index(t, R, "rounds")
    p.known("mean", eq(mean, total(G(t), t, R) / R), "over the rounds 0 to R - 1, all alike")
    p.known("start", eq(gap_0, gap(0)), "the gap of the start")
    p.known("gap >= 0", gap(t) >= 0, "F* is the infimum of F")
    p.known("G >= 0", G(t) >= 0, "a mean of squared norms")
    p.assume("last", "bounded_below", gap(R) >= 0, "F* is finite")

    noise = et**2 * M1 * L * G2 + sp.Rational(3, 2) * L**2 * et * eta_l**2 * H
    p.cite_mean("decrease", gap(t + 1) <= gap(t) - et / 4 * G(t) + noise, "recursion_nonconvex_gen/sharp", gap(t + 1),
        {gap_0: gap(t), grad2_0: G(t)}, "gap >= 0", "G >= 0", why="the recursion in every round")
    p.add_up("sum", gap(R) <= gap(0) + total(-et / 4 * G(t) + noise, t, R), "decrease", gap(t), t, R, why="all rounds")
    p.step("share > 0", et / 4 > 0, why="a product of positive numbers")
    p.conclude(mean <= p.bound, {"sum": 4 / (et * R), "last": 4 / (et * R)}, "start", "mean", "share > 0",
        why="divided by R and by what a round gains")
    return p.done()
