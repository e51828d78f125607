"""The recursion in the proof of Theorem 5.1 where the losses are convex: Lemmas C.1 and C.2 added."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem 5.1, recursion", "Appendix C, after the proof of Lemma C.2"),
    title="One round of FedShuffle with its drift",
    symbols=(*NOTATION, CONVEXITY),
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.last("dist2", LENGTH2, rounds=1, expectation="cohorts and orders of the samples"),
    domain=(MU_AT_MOST_L,),
    conditions=(
        Condition("step size", et <= 1 / (4 * beta_c * L)),
        Condition("server step size", eta_g >= 1),
        B_AT_LEAST_1,
    ),
    assumptions=(strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, data_weights),
    readings={
        "corrected": Reading(
            bound=(1 - mu * et / 2) * D - et / 10 * F + 2 * et**2 * M * G2 + 9 * L * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.TRUE,
            replaces="the last term by L times it",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit.",
        ),
        "as_printed": Reading(
            bound=(1 - mu * et / 2) * D - et / 10 * F + 2 * et**2 * M * G2 + 9 * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.FALSE,
            remark="The last term, taken over from Lemma C.2, lacks the unit of L. The hypothesis B >= 1 that Lemma "
            "C.1 needs is put in. One client with the samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks "
            "it for lam > 192.",
        ),
        "sharp": Reading(
            bound=(1 - mu * et / 2) * D - et * F + 2 * et**2 * M * G2 + 5 * L * et**3 / (eta_g * E) ** 2 * H_c,
            belief=Belief.TRUE,
            replaces="et/10 and 9 by et and 5",
            why="Lemmas C.1 and C.2 share one step condition, whose parts 1 + M B^2 and (1 + P) B cannot both use all "
            "of it; the two displays before the condition is put in give this.",
        ),
    },
)
