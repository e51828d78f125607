"""How far one round of FedShuffleGen moves the server's point: the bound on A_2 in the proof of Lemma E.3."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.3, its proof", "Appendix E.3; reused in the non-convex case"),
    title="Squared movement of the server's point in one round of FedShuffleGen",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.last("movement2", LENGTH2, expectation="cohorts and orders of the samples", surrogate=True),
    assumptions=(smooth_samples, followed_objective),
    readings={
        "corrected": Reading(
            bound=2 * et_gen**2 * ((1 + M1) * L**2 * drift_0 + M1 * client_grad2_0 + grad2_0),
            belief=Belief.TRUE,
            replaces="M2 by 1, and the clients' squared gradients, which the paper bounds at once by Assumption 3.3",
            why="The square of the clients' mean is at most the mean of their squares by Jensen. Without Assumption "
            "3.3 it serves with and without convexity.",
        ),
    },
)
