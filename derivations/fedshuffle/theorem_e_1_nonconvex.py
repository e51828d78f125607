"""The proof of Theorem E.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected gap of fhat after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

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

gap_0, grad2_0 = sp.symbols("gap_0 grad2_0", real=True)
gap: Any = sp.Function("gap", real=True)
G: Any = sp.Function("G", real=True)(t)
RECURSION, SHARP = "fedshuffle/recursion_nonconvex_gen/sharp", "fedshuffle/theorem_e_1_nonconvex/sharp"
SLIP = "the middle term lacks L and W^2"

FACTS = (
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
    Fact("gap >= 0", gap(t) >= 0, "metric", "F* is the infimum of F"),
    Fact("G >= 0", G >= 0, "metric", "a mean of squared norms"),
    Fact("last", gap(R) >= 0, "assumption", "F* is finite", "bounded_below"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts, steps = (
        added_up(statement, RECURSION, (gap_0, gap), (grad2_0, G), FACTS)
        if statement.reading == "sharp"
        else ((), from_sharper(statement, SHARP, mean, (("gap_0", gap_0),), SLIP))
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((gap(t), t), (G, t)),
    )
