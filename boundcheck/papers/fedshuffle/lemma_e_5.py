"""Lemma E.5: the variance of a normalised sum over a random cohort."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SQUARES = nonnegative("weighted_squares", "sum over the clients of h_i s_i |w_i z_i/q_i|^2", GRADIENT2,
                      r"(\sum_i \frac{s_i w_i^2}{p_i}\|z_i\|^2)")  # fmt: skip

theorem = Theorem(
    source=Source(PAPER, "Lemma E.5", "Appendix E"),
    title="Variance of the sum of w_i z_i/q_i^S over a cohort",
    symbols=(SQUARES,),
    metric=Metric.last("participation_variance", GRADIENT2, expectation="cohort"),
    bound=SQUARES.expr,
    assumptions=(
        Assumption(
            "cohort_normaliser_variance",
            "1/q_i is the expectation of 1/q_i^S over the cohorts S with i, and H - e e^T is at most diag(h_i s_i), h "
            "the diagonal of H, H_ij the expectation of q_i q_j/(q_i^S q_j^S) over the cohorts with i and j.",
        ),
    ),
    readings={
        "corrected": Reading(
            belief=Belief.TRUE,
            replaces="h_1 s_2 by h_1 s_1 in (33), g_i^S by q_i^S in (34)",
            why="The proof uses these. That the weights sum to 1 is not needed.",
        )
    },
)
