"""Lemma C.1: the progress of one round where the losses are convex."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.fedshuffle._appendix_c import METHOD, one_round
from boundcheck.papers.fedshuffle._shared import (
    B2,
    B_AT_LEAST_1,
    CONVEXITY,
    G2,
    MU_AT_MOST_L,
    PAPER,
    STRONGLY_CONVEX,
    L,
    M,
    declare,
    dist2_0,
    drift_0,
    et,
    gap_0,
    mu,
    of_data,
    step_condition,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "corrected"

_corrected = Statement(
    source=Source(PAPER, "Lemma C.1", "Appendix C"),
    reading="corrected",
    title="One round of FedShuffle",
    symbols=(CONVEXITY, *declare("L", "G2", "B2", "M", "E", "eta_l", "eta_g", "dist2_0", "gap_0", "drift_0")),
    metric=one_round("dist2", LENGTH2),
    bound=(1 - mu * et / 2) * dist2_0 - et * gap_0 + 3 * L * et * drift_0 + 2 * et**2 * M * G2,
    algorithm=METHOD,
    domain=(MU_AT_MOST_L,),
    conditions=(step_condition(et, 1 + M * B2), B_AT_LEAST_1),
    assumptions=of_data(STRONGLY_CONVEX),
    belief=Belief.TRUE,
    replaces="the missing hypothesis B >= 1",
    why="The proof uses (1 + M) L et <= 1/4, which the step condition gives for B >= 1 only; with a smaller B the "
    "hypotheses are met by a larger one as well. The first line of the display is missing in the text that was read; "
    "it is reconstructed from the proof.",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        conditions=(step_condition(et, 1 + M * B2),),
        belief=Belief.OPEN,
        replaces="",
        why="",
        remark="The proof says that B >= 1, which the hypotheses do not.",
    ),
    replace(
        _corrected,
        reading="raw",
        title="One round of FedShuffle, before the step condition is put in",
        bound=(1 - mu * et / 2) * dist2_0
        - 2 * et * gap_0
        + 2 * L * et * drift_0
        + 2 * et**2 * ((1 + M) * L**2 * drift_0 + M * G2 + 2 * L * (1 + M * B2) * gap_0),
        conditions=(),
        replaces="the use of the step condition",
        why="It is the display of the proof from which the lemma follows, valid for every step size; the sharp "
        "recursion of Theorem 5.1 needs it.",
    ),
)
