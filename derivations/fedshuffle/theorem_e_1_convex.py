"""The proof of Theorem E.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser of fhat after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

The corrected bound is larger than the sharp one, term by term. The printed one needs the step conditions and B >= 1 for
the same average, and its middle term lacks L and W^2.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected", "as_printed", "sharp")

L, G2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g = symbols("L G2 P2_gen sigma2_gen M1 W eta_l eta_g")
R, t, mean, dist2_0, gap_0 = symbols("R t mean dist2_0 gap_0")
dist2, gap = functions("dist2 gap")
et, H = W * eta_g * eta_l, (1 + P2_gen) * G2 + sigma2_gen


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, rounds=((dist2(t), t), (gap(t), t)))
    if p.reading != "sharp":
        p.from_sharper("theorem_e_1_convex/sharp", mean, slip="the middle term lacks L and W^2", dist2_0=dist2_0,
            gap_0=gap_0)
        return p.done()
    p.index(t, R, "rounds")
    p.known("mean", eq(mean, total(gap(t), t, R) / R), "over the rounds 0 to R - 1, all alike")
    p.known("start", eq(dist2_0, dist2(0)), "the distance of the start")
    p.known("dist2 >= 0", dist2(t) >= 0, "a mean of squared norms")
    p.known("last", dist2(R) >= 0, "a mean of squared norms")
    p.known("gap >= 0", gap(t) >= 0, "F* is the infimum of F")

    noise = 2 * et**2 * M1 * G2 + 5 * L * et * eta_l**2 * H
    p.cite_mean("decrease", dist2(t + 1) <= dist2(t) - et * gap(t) + noise, "recursion_convex_gen/sharp", dist2(t + 1),
        {dist2_0: dist2(t), gap_0: gap(t)}, "dist2 >= 0", "gap >= 0", why="the recursion in every round", mu=0)
    p.add_up("sum", dist2(R) <= dist2(0) + total(-et * gap(t) + noise, t, R), "decrease", dist2(t), t, R,
        why="all rounds")
    p.step("share > 0", et > 0, why="a product of positive numbers")
    p.conclude(mean <= p.bound, {"sum": 1 / (et * R), "last": 1 / (et * R)}, "start", "mean", "share > 0",
        why="divided by R and by what a round gains")
    return p.done()
