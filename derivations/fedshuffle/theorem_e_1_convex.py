"""The proof of Theorem E.1 (FedShuffle) with convexity: the recursion of a round added up over the rounds.

    dist2(t)  expected squared distance to the minimiser of fhat after t rounds
    gap(t)    expected objective gap there        mean  mean of the gaps over the rounds 0 to R - 1

The corrected bound is larger than the sharp one, term by term. The printed one needs the step conditions and B >= 1 for
the same average, and its middle term lacks L and W^2.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.rounds import R, added_up, mean, t
from boundcheck.proof.step import Fact
from boundcheck.proof.weaker import from_sharper

READINGS = ("corrected", "as_printed", "sharp")

dist2_0, gap_0 = sp.symbols("dist2_0 gap_0", real=True)
dist2: Any = sp.Function("dist2", real=True)
gap: Any = sp.Function("gap", real=True)(t)
RECURSION, SHARP = "fedshuffle/recursion_convex_gen/sharp", "fedshuffle/theorem_e_1_convex/sharp"
START = (("dist2_0", dist2_0), ("gap_0", gap_0))
SLIP = "the middle term lacks L and W^2"

FACTS = (
    Fact("start", sp.Eq(dist2_0, dist2(0)), "metric", "the distance of the start"),
    Fact("dist2 >= 0", dist2(t) >= 0, "metric", "a mean of squared norms"),
    Fact("last", dist2(R) >= 0, "metric", "a mean of squared norms"),
    Fact("gap >= 0", gap >= 0, "metric", "F* is the infimum of F"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts, steps = (
        added_up(statement, RECURSION, (dist2_0, dist2), (gap_0, gap), FACTS, {"mu": 0})
        if statement.reading == "sharp"
        else ((), from_sharper(statement, SHARP, mean, START, SLIP))
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((dist2(t), t), (gap, t)),
    )
