"""The drift of one round by the clients' gradients at its start: what Lemma C.2 and its non-convex form share."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._appendix_c import (
    CLIENT_GRAD2_0,
    LOCAL_METHOD,
    LOCAL_STEP,
    client_grad2_0,
    of_drift,
    self_term,
)
from boundcheck.papers.fedshuffle._shared import PAPER, E, P2_c, declare, eta_l, of_data, sigma2_c
from boundcheck.theory.assumptions import local_variance, smooth_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma C.2, its proof", "Appendix C; the display before (5) is used"),
        reading="corrected",
        title="Drift of one round of FedShuffle by the clients' gradients",
        symbols=(*declare("L", "P2", "sigma2", "E", "eta_l"), CLIENT_GRAD2_0),
        metric=of_drift(LENGTH2),
        bound=2 * eta_l**2 * ((E**2 + P2_c) * client_grad2_0 + sigma2_c) / (1 - self_term),
        algorithm=LOCAL_METHOD,
        conditions=(LOCAL_STEP,),
        assumptions=of_data((smooth_samples, local_variance)),
        belief=Belief.TRUE,
        replaces="the step condition of Lemma C.2 by eta_l*E*L <= 1/2, and its gap by the clients' squared gradients",
        why="The display of the proof before Assumption 3.3 and the step condition are used, solved for the drift, "
        "holds with and without convexity. The paper's sigma_i^2 and P_i^2 lack their index there.",
    ),
)
