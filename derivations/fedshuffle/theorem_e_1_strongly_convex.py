"""The proof of Theorem E.1 (FedShuffle) with strong convexity: the recursion of a round, weighted over the rounds.

    dist2(t)  expected squared distance to the minimiser of fhat after t rounds
    gap(t)    expected objective gap of fhat there
    f         factor of the recursion, 1 - mu et/2                         mean     weighted mean of the gaps
    part(t)   weighted sum of the first t gaps                             V(t)     sum of their weights

From the recursion on the steps are those of `fedshuffle/theorem_5_1_strongly_convex`. The corrected bound is larger
than the sharp one, term by term.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, functions, le, symbols
from boundcheck.proof.rules import Induction

READINGS = ("corrected", "sharp")

mu, L, G2, P2_gen, sigma2_gen, M1, W, eta_l, eta_g = symbols("mu L G2 P2_gen sigma2_gen M1 W eta_l eta_g")
R, t, mean, dist2_0, gap_0, f, share, noise = symbols("R t mean dist2_0 gap_0 f share noise")
dist2, gap = functions("dist2 gap")
et, H = W * eta_g * eta_l, (1 + P2_gen) * G2 + sigma2_gen
added = sp.expand(2 * et**2 * M1 * G2 + 5 * L * et * eta_l**2 * H)
left = (1 - mu * et / 2)**R
bound = mu / 2 * dist2_0 * left / (1 - left) + 2 * et * M1 * G2 + 5 * L * eta_l**2 * H


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, mean, squares=(dist2_0,), rounds=((dist2(t), t), (gap(t), t)))
    theorem = "theorem_5_1_strongly_convex/sharp"
    p.define(f, 1 - mu * et / 2, "factor of the recursion")
    p.define(share, et, "coefficient of the gap in the recursion")
    p.define(noise, added, "what the recursion adds in a round")
    p.take_facts(theorem, skip=("f", "share", "noise"))

    p.take_steps(theorem, "f < 1")
    p.step("f > 0", f > 0, "condition effective step size", "f", why="mu et is at most 1/4")
    p.take_steps(theorem, "share > 0")
    p.cite_mean("round", dist2(t + 1) <= (1 - mu * et / 2) * dist2(t) - et * gap(t) + added,
        "recursion_convex_gen/sharp", dist2(t + 1), {dist2_0: dist2(t), gap_0: gap(t)}, "dist2 >= 0", "gap >= 0",
        why="the recursion in every round")
    p.take_steps(theorem, skip=("f < 1", "f > 0", "share > 0", "round"))
    p.step("conclusion" if p.reading == "sharp" else "sharp", le(mean, bound), {"short": 1}, "f", "share", "noise",
        "f > 0", "f < 1", "power", why="factor, coefficient and noise written out")
    if p.reading == "corrected":
        p.rule("positive R", Induction("positive 0", "positive t", t, R), "positive 0", "positive t", why="a power")
        p.step("left > 0", left > 0, "positive R", "f", why="in the statement's symbols")
        p.step("left", left < 1, "positive R", "power", "f", "f > 0", "f < 1", why="what the contractions leave")
        p.step("terms", le(bound, p.bound), "left", "left > 0", why="term by term")
        p.step("conclusion", le(mean, p.bound), {"sharp": 1, "terms": 1}, "left", why="together")
    p.ends_with("conclusion")
    return p.done()
