"""The recursion in the proof of Theorem E.1 where the losses are convex: the displays of Lemmas E.3 and E.4 added."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1, recursion", "Appendix E.3, after the proof of Lemma E.4"),
    title="One round of FedShuffleGen with its drift",
    symbols=(*NOTATION, CONVEXITY),
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.last("dist2", LENGTH2, rounds=1, expectation="cohorts and orders of the samples", surrogate=True),
    domain=(MU_AT_MOST_L,),
    conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
    assumptions=(strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    trivial=D,
    readings={
        "sharp": Reading(
            bound=(1 - mu * et_gen / 2) * D - et_gen * F + 2 * et_gen**2 * M1 * G2 + 5 * L * et_gen * eta_l**2 * H_gen,
            belief=Belief.TRUE,
            replaces="the coefficients et/10 and 9 of the two lemmas added by et and 5, and the last term without L",
            why="Lemmas E.3 and E.4 share one step condition, whose parts 1 + M1 B^2 and (1 + P) B cannot both use all "
            "of it; the two displays before the condition is put in give this.",
        ),
    },
)
