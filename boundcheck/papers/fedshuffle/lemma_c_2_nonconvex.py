"""The form of Lemma C.2 that Theorem 5.1 uses where the losses are not convex: the gap becomes a squared gradient."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._appendix_c import (
    CONDITIONS,
    GRAD2_0,
    METHOD,
    grad2_0,
    of_drift,
)
from boundcheck.papers.fedshuffle._shared import NONCONVEX, PAPER, H, L, declare, eta_l, of_data
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma C.2", "Appendix C, the partial result that the non-convex case reuses"),
        reading="corrected",
        title="Drift of one round of FedShuffle without convexity",
        symbols=(*declare("L", "G2", "B2", "P2", "sigma2", "M", "E", "eta_l", "eta_g"), GRAD2_0),
        metric=of_drift(LENGTH2),
        bound=grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H,
        algorithm=METHOD,
        conditions=CONDITIONS,
        assumptions=of_data(NONCONVEX),
        belief=Belief.TRUE,
        replaces="the gap of Lemma C.2 by the squared gradient over 2 L",
        why="That is how the proof of Theorem 5.1 reuses the lemma, with the constants before they are rounded.",
    ),
)
