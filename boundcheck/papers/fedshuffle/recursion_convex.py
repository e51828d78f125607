"""The recursion in the proof of Theorem 5.1 where the losses are convex: Lemmas C.1 and C.2 added."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.fedshuffle._appendix_c import CONDITIONS, METHOD, drift_noise, one_round
from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    CONVEXITY,
    G2,
    LOST_L,
    MU_AT_MOST_L,
    PAPER,
    STRONGLY_CONVEX,
    L,
    M,
    declare,
    dist2_0,
    et,
    gap_0,
    mu,
    of_data,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_start = (1 - mu * et / 2) * dist2_0

_corrected = Statement(
    source=Source(PAPER, "Theorem 5.1, recursion", "Appendix C, after the proof of Lemma C.2"),
    reading="corrected",
    title="One round of FedShuffle with its drift",
    symbols=(
        CONVEXITY,
        *declare("L", "G2", "B2", "P2", "sigma2", "M", "E", "eta_l", "eta_g", "dist2_0", "gap_0"),
    ),
    metric=one_round("dist2", LENGTH2),
    bound=_start - et / 10 * gap_0 + 2 * et**2 * M * G2 + 9 * L * drift_noise,
    algorithm=METHOD,
    domain=(MU_AT_MOST_L,),
    conditions=(*CONDITIONS, B_AT_LEAST_1),
    assumptions=of_data(STRONGLY_CONVEX),
    belief=Belief.TRUE,
    replaces="the last term by L times it",
    why=LOST_L + ".",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        bound=_start - et / 10 * gap_0 + 2 * et**2 * M * G2 + 9 * drift_noise,
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="The last term, taken over from Lemma C.2, lacks the unit of L. The hypothesis B >= 1 that Lemma C.1 "
        "needs is put in. One client with the samples lam/2 (x -+ 1)^2 and the start at "
        "the minimiser breaks it for lam > 192.",
    ),
    replace(
        _corrected,
        reading="sharp",
        bound=_start - et * gap_0 + 2 * et**2 * M * G2 + 5 * L * drift_noise,
        replaces="et/10 and 9 by et and 5",
        why="Lemmas C.1 and C.2 share one step condition, whose parts 1 + M B^2 and (1 + P) B cannot both use all of "
        "it; the two displays before the condition is put in give this.",
    ),
)
