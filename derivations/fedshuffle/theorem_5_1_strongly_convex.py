"""The proof of Theorem 5.1 (FedShuffle) with strong convexity: the recursion of a round, weighted over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds    gap(t)  expected objective gap there
    f         factor of the recursion, 1 - mu et/2                         mean    weighted mean of the gaps
    part(t)   weighted sum of the first t gaps                             V(t)    sum of their weights

Each reading uses the same reading of the recursion. The weights f^(-t) grow; both sums are multiplied by
f^(rounds - 1), so that all exponents are positive.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, functions, le, symbols

READINGS = ("corrected", "sharp")

mu, L, G2, P2, sigma2, M, E, eta_l, eta_g, R = symbols("mu L G2 P2 sigma2 M E eta_l eta_g R")
t, mean, dist2_0, gap_0, f, share, noise = symbols("t mean dist2_0 gap_0 f share noise")
dist2, gap, part, V = functions("dist2 gap part V")
et, H = E * eta_g * eta_l, (E**2 + P2 / 3) * G2 + sigma2 / 3


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, squares=(dist2_0,), rounds=((dist2(t), t), (gap(t), t)))
    gained, c = (et, 5) if p.reading == "sharp" else (et / 10, 9)
    added = sp.expand(2 * et**2 * M * G2 + c * L * et * eta_l**2 * H)
    known(p, gained, added)
    p.step("f < 1", f < 1, "f", why="the recursion contracts")
    p.step("f > 0", f > 0, "condition step size", "f", why="mu et is at most 1/4")
    p.signs(share > 0, "share", why="a product of positive numbers")
    p.cite_mean("round", dist2(t + 1) <= (1 - mu * et / 2) * dist2(t) - gained * gap(t) + added,
        f"recursion_convex/{p.reading}", dist2(t + 1), {dist2_0: dist2(t), gap_0: gap(t)}, "dist2 >= 0", "gap >= 0",
        why="the recursion in every round")
    p.step("recursion", dist2(t + 1) <= f * dist2(t) - share * gap(t) + noise, {"round": 1}, "f", "share", "noise",
        why="in short")
    weighted(p)
    p.step("short", mean <= (1 - f) / share * dist2_0 * f**R / (1 - f**R) + noise / share, "sum", "weights", "power",
        "mean", "last", "share > 0", "f > 0", "f < 1", why="over the sum of the weights; the last distance is dropped")
    p.conclude(le(mean, p.bound), {"short": 1}, "f", "share", "noise", "f > 0", "f < 1", "power",
        why="factor, coefficient and noise written out")
    return p.done()


def known(p: Proof, gained: Any, added: Any) -> None:
    """The recursion in short, and what is averaged."""
    p.define(f, 1 - mu * et / 2, "factor of the recursion")
    p.define(share, gained, "coefficient of the gap in the recursion")
    p.define(noise, added, "what the recursion adds in a round")
    p.index(t, None, "rounds")
    p.known("start", eq(dist2_0, dist2(0)), "no round has been run at the start")
    p.known("mean", eq(mean * V(R), part(R)), "the weighted mean over the rounds 0 to R - 1")
    p.known("no gap", eq(part(0), 0), "an empty sum")
    p.known("no weight", eq(V(0), 0), "an empty sum")
    p.known("weight", eq(V(t + 1), f * V(t) + 1), "the weight of round t times f^t is 1")
    p.known("term", eq(part(t + 1), f * part(t) + gap(t)), "the gap of round t, weighted likewise")
    p.known("dist2 >= 0", dist2(t) >= 0, "a mean of squared norms")
    p.known("last", dist2(R) >= 0, "a mean of squared norms")
    p.known("gap >= 0", gap(t) >= 0, "F* is the infimum of F")


def weighted(p: Proof) -> None:
    """The sum of the weights, powers of the factor, and the recursion weighted and added up; k counts the rounds."""

    def induct(name: str, claim: Any, last: Any, base: Any, step: Any, why: str) -> None:
        p.induct(name, claim, t, last, base=base, step=(*step, "f > 0", "f < 1"), why=why,
            words=("no round", "one more round"), names=(f"{name} 0", f"{name} t"))

    induct("weights", lambda k: eq(V(k), (1 - f**k) / (1 - f)), R, ("no weight", "f > 0", "f < 1"), ("weight",),
        "a geometric sum")
    induct("positive", lambda k: sp.Gt(f**k, 0, evaluate=False), t, (), (), "every power is positive")
    induct("power", lambda k: le(f**k * (1 + k * (1 - f)), 1), R, (), ("positive",), "so that f^R < 1")
    induct("sum", lambda k: le(share * part(k) + dist2(k), f**k * dist2_0 + noise * V(k)), R,
        ("no gap", "no weight", "start"), ("recursion", "weight", "term", "share > 0"),
        "the recursion, weighted and added up")
