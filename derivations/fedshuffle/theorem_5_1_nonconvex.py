"""The proof of Theorem 5.1 (FedShuffle) without convexity: the recursion of a round added up over the rounds.

    gap(t)  expected objective gap after t rounds        G(t)  expected squared gradient norm there
    mean    mean of G over the rounds 0 to R - 1

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

B2, gap_0, grad2_0 = sp.symbols("B2 gap_0 grad2_0", real=True)
gap: Any = sp.Function("gap", real=True)
G: Any = sp.Function("G", real=True)(t)

FACTS = (
    Fact("start", sp.Eq(gap_0, gap(0)), "metric", "the gap of the start"),
    Fact("gap >= 0", gap(t) >= 0, "metric", "F* is the infimum of F"),
    Fact("G >= 0", G >= 0, "metric", "a mean of squared norms"),
    Fact("last", gap(R) >= 0, "assumption", "F* is finite", "bounded_below"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    lemma = f"fedshuffle/recursion_nonconvex/{statement.reading}"
    left_out = (Step("B at least 1", B2 >= 1, (), Decide(), "the recursion needs it"),)
    before = left_out if statement.reading == "as_printed" else ()
    facts, steps = added_up(statement, lemma, (gap_0, gap), (grad2_0, G), FACTS, before=before)
    return Derivation(
        statement,
        (*scope_facts(statement), *facts),
        steps,
        conclusion="conclusion",
        target=mean,
        rounds=((gap(t), t), (G, t)),
    )
