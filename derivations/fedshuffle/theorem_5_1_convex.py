"""The proof of Theorem 5.1 (FedShuffle) with convexity, as a case of that of Theorem E.1.

The sharp reading is that of Theorem E.1; the corrected one, with the constants of Section 5, is larger. The printed one
leaves out the hypothesis B >= 1, and the factor L that Lemma C.2 loses.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.weaker import from_general, from_sharper, taken

READINGS = ("corrected", "as_printed", "sharp")

dist2_0, gap_0, mean = sp.symbols("dist2_0 gap_0 mean", real=True)
START = (("dist2_0", dist2_0), ("gap_0", gap_0))


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "sharp":
        (root,) = taken(derivation_of("fedshuffle/recursion_convex/sharp"), "root")
        steps = (root, *from_general(statement, "fedshuffle/theorem_e_1_convex/sharp", mean, START, ("root",)))
    else:
        steps = from_sharper(statement, "fedshuffle/theorem_5_1_convex/sharp", mean, START, "the middle term lacks L")
    return Derivation(statement, scope_facts(statement), steps, conclusion="conclusion", target=mean)
