"""The proof of Lemma C.1 (FedShuffle, Appendix C) as checked steps: the progress of one round.

The display before the step condition is put in, the reading "raw", is that of Lemma E.3 for FedShuffleGen, of which
FedShuffle is a case. The printed reading lacks the hypothesis B >= 1.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.citations import Specialised
from boundcheck.proof.proof import Proof, symbols

READINGS = ("corrected", "as_printed", "raw")

mu, L, G2, B2, M, E, eta_l, eta_g = symbols("mu L G2 B2 M E eta_l eta_g")
dist2_0, gap_0, drift_0, dist2_1, et = symbols("dist2_0 gap_0 drift_0 dist2_1 et")


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma C.1."""
    p = Proof(statement, dist2_1, squares=(gap_0, G2, drift_0))
    p.define(et, E * eta_g * eta_l, "effective step")
    start = (("drift_0", drift_0), ("dist2_0", dist2_0), ("gap_0", gap_0))
    p.rule("display", Specialised("fedshuffle/lemma_e_3/raw", dist2_1, start),
        why="Lemma E.3 before the step condition")
    if p.reading == "raw":
        p.ends_with("display")
        return p.done()
    p.signs(et > 0, "et", why="the effective step is positive")
    p.step("step 1", 4 * L * et * (1 + M * B2) <= 1, "et", why="the step condition")
    p.step("step 2", (1 + M) * L * et <= sp.Rational(1, 4), "et", why="the step condition, with B >= 1")
    p.conclude(dist2_1 <= (1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M * G2,
        {"display": 1}, "et", "step 1", "step 2", "et > 0", why="2 + 2/4 <= 3")
    return p.done()
