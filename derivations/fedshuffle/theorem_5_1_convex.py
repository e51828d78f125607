"""The proof of Theorem 5.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

Each reading adds up the same reading of the recursion. The printed one leaves out the hypothesis B >= 1, which the
recursion needs, and inherits the factor L that Lemma C.2 loses.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.rounds import R, added_up, mean, t
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "as_printed", "sharp")

B2, dist2_0, gap_0 = sp.symbols("B2 dist2_0 gap_0", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)(t)

FACTS = (
    Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "the distance of the start"),
    Fact("dist2 >= 0", dist2(t) >= 0, "metric", "a mean of squared norms"),
    Fact("last", dist2(R) >= 0, "metric", "a mean of squared norms"),
    Fact("gap >= 0", gap >= 0, "metric", "F* is the infimum of F"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_convex/{statement.reading}"
    left_out = (Step("B at least 1", B2 >= 1, (), Decide(), "the recursion needs it"),)
    before = left_out if statement.reading == "as_printed" else ()
    facts, steps = added_up(statement, lemma, (dist2_0, dist2), (gap_0, gap), FACTS, {"mu": 0}, before)
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((dist2(t), t), (gap, t)),
    )
