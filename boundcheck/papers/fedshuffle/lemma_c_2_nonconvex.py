"""The form of Lemma C.2 that Theorem 5.1 uses where the losses are not convex: the gap becomes a squared gradient."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma C.2", "Appendix C, the partial result that the non-convex case reuses"),
    title="Drift of one round of FedShuffle without convexity",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.last("drift", LENGTH2, expectation="orders of the samples"),
    conditions=(
        Condition("step size", et <= 1 / (4 * beta_c * L)),
        Condition("server step size", eta_g >= 1),
    ),
    assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
    readings={
        "corrected": Reading(
            bound=grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H_c,
            belief=Belief.TRUE,
            replaces="the gap of Lemma C.2 by the squared gradient over 2 L",
            why="That is how the proof of Theorem 5.1 reuses the lemma, with the constants before they are rounded.",
        ),
    },
)
