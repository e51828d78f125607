"""The recursion of Theorem 5.1 (FedShuffle) where the losses are convex, as a case of that of Theorem E.1.

FedShuffle is FedShuffleGen with W = 1 and the local step E eta_l, so that its step conditions are those of Theorem E.1.
The corrected bound is larger than the sharp one; the printed one leaves a factor L out.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Step
from boundcheck.proof.weaker import from_general, from_sharper

READINGS = ("corrected", "as_printed", "sharp")

P2, E, dist2_0, gap_0, dist2_1 = sp.symbols("P2 E dist2_0 gap_0 dist2_1", real=True)
START = (("dist2_0", dist2_0), ("gap_0", gap_0))
# Appendix E's P for FedShuffle against Lemma C.2's
ROOT = Step("root", sp.sqrt(P2 / (3 * E**2)) <= sp.sqrt(P2 / 3), ("domain P2", "domain E"), Decide(), "E >= 1")


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of the recursion."""
    steps = (
        (ROOT, *from_general(statement, "fedshuffle/recursion_convex_gen/sharp", dist2_1, START, ("root",)))
        if statement.reading == "sharp"
        else from_sharper(statement, "fedshuffle/recursion_convex/sharp", dist2_1, START, "one factor L is left out")
    )
    return Derivation(statement, scope_facts(statement), steps, conclusion="conclusion", target=dist2_1)
