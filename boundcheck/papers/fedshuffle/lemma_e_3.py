"""Lemma E.3: one round of FedShuffleGen, with the drift of that round.

It is about the objective fhat that the method really minimises, and its weights.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.3", "Appendix E.3, one round progress"),
    title="One round of FedShuffleGen",
    symbols=(*NOTATION, CONVEXITY),
    algorithm=FEDSHUFFLE_GEN,
    metric=Metric.last("dist2", LENGTH2, rounds=1, expectation=COHORTS, surrogate=True),
    bound=(1 - mu * et_gen / 2) * D - et_gen * F + 3 * L * et_gen * drift_0 + 2 * et_gen**2 * M1 * G2,
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    trivial=D,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            conditions=(
                Condition("step size", et_gen <= 1 / (4 * (1 + M1 * B2) * L), "on W*eta_g*eta_l"),
                B_AT_LEAST_1,
            ),
            replaces="the condition on eta_l*eta_g by one on W*eta_g*eta_l, and M2 by 1",
            why="For W > 1 the printed condition does not bound the effective step, and the contraction fails (FedAvg "
            "with a large server weight diverges); the second square is at most a mean of squares by Jensen, without "
            "M2.",
        ),
        "raw": Reading(
            title="One round of FedShuffleGen, before the step condition is put in",
            bound=(1 - mu * et_gen / 2) * D
            - 2 * et_gen * F
            + 2 * L * et_gen * drift_0
            + 2 * et_gen**2 * ((1 + M1) * L**2 * drift_0 + M1 * G2 + 2 * L * (1 + M1 * B2) * F),
            replaces="the use of the step condition",
            why="It is the display of the proof from which the lemma follows, valid for every step size; the sharp "
            "recursion of Theorem E.1 needs it.",
        ),
        "as_printed": Reading(
            conditions=(
                Condition("step size", eta_l * eta_g <= 1 / (4 * (1 + M2 + M1 * B2) * L), "as printed, without W"),
                SERVER_STEP,
            ),
            belief=Belief.FALSE,
            remark="The display is cut off in the text and completed from its proof. False where W > 1; true for W = "
            "1.",
        ),
    },
)
