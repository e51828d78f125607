"""Lemma C.1: the progress of one round where the losses are convex."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

STEP_SIZE = Condition("step size", et <= 1 / (4 * (1 + M * B2) * L))

theorem = Theorem(
    source=Source(PAPER, "Lemma C.1", "Appendix C"),
    title="One round of FedShuffle",
    symbols=(*NOTATION, CONVEXITY),
    algorithm=FEDSHUFFLE,
    metric=Metric.last("dist2", LENGTH2, rounds=1, expectation=COHORTS),
    bound=(1 - mu * et / 2) * D - et * F + 3 * L * et * drift_0 + 2 * et**2 * M * G2,
    domain=(MU_AT_MOST_L,),
    assumptions=(*STRONGLY_CONVEX, data_weights),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            conditions=(STEP_SIZE, B_AT_LEAST_1),
            replaces="the missing hypothesis B >= 1",
            why="The proof uses (1 + M) L et <= 1/4, which the step condition gives for B >= 1 only; with a smaller B "
            "the hypotheses are met by a larger one as well. The first line of the display is missing in the text that "
            "was read; it is reconstructed from the proof.",
        ),
        "as_printed": Reading(
            conditions=(STEP_SIZE,),
            belief=Belief.OPEN,
            remark="The proof says that B >= 1, which the hypotheses do not. The reading raw gives it wherever M (1 - "
            "2 B^2) <= 1, so for B^2 >= 1/2 and for M <= 1; for other B and M it is not decided.",
        ),
        "raw": Reading(
            title="One round of FedShuffle, before the step condition is put in",
            bound=(1 - mu * et / 2) * D
            - 2 * et * F
            + 2 * L * et * drift_0
            + 2 * et**2 * ((1 + M) * L**2 * drift_0 + M * G2 + 2 * L * (1 + M * B2) * F),
            replaces="the use of the step condition",
            why="It is the display of the proof from which the lemma follows, valid for every step size; the sharp "
            "recursion of Theorem 5.1 needs it.",
        ),
    },
)
