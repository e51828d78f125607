"""Lemma D.3: how far the local epochs of FedShuffleMVR move from the start of the round."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._appendix_d import (
    A32,
    A34,
    A35,
    MOMENTUM,
    NO_RELATIVE_NOISE,
    ONE_CLIENT,
    D_i,
    S,
    declare,
    gam2,
    h2,
    mvr,
    sigma2_i,
    similar_step,
    smooth_step,
)
from boundcheck.papers.fedshuffle._shared import PAPER, E, L, a, eta_l
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "as_printed"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma D.3", "Appendix D, (28)"),
        reading="as_printed",
        title="Drift of the epochs of one round of FedShuffleMVR",
        symbols=declare("h2", "gam2", "sigma2_i", "D_i", "S", "E", "eta_l", "delta", "L", "a", "P2"),
        metric=Metric("summed_epoch_drift2", LENGTH2, expectation=ONE_CLIENT),
        bound=16 * E**2 * eta_l**2 * S
        + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * sigma2_i / D_i),
        algorithm=mvr("E", "eta_l", "a"),
        conditions=(similar_step(4), smooth_step(2), MOMENTUM, NO_RELATIVE_NOISE),
        assumptions=(A32, A34, A35),
        belief=Belief.TRUE,
        remark="a <= 1 is used and not named. The printed proof has a sign and an index of the inner sum wrong, "
        "which its estimates do not notice.",
    ),
)
