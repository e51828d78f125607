"""How far one round moves the server's point: the bound on A_2 in the proof of Lemma C.1, which needs no convexity."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._appendix_c import (
    CLIENT_GRAD2_0,
    GRAD2_0,
    METHOD,
    client_grad2_0,
    grad2_0,
    one_round,
)
from boundcheck.papers.fedshuffle._shared import PAPER, L, M, declare, drift_0, et, of_data
from boundcheck.theory.assumptions import smooth_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma C.1, its proof", "Appendix C; reused in the non-convex case"),
        reading="corrected",
        title="Squared movement of the server's point in one round of FedShuffle",
        symbols=(*declare("L", "M", "E", "eta_l", "eta_g", "drift_0"), CLIENT_GRAD2_0, GRAD2_0),
        metric=one_round("movement2", LENGTH2),
        bound=2 * et**2 * ((1 + M) * L**2 * drift_0 + M * client_grad2_0 + grad2_0),
        algorithm=METHOD,
        assumptions=of_data((smooth_samples,)),
        belief=Belief.TRUE,
        replaces="the clients' squared gradients, which the paper bounds at once by Assumption 3.3",
        why="So it serves with and without convexity.",
    ),
)
