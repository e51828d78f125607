"""How far one round moves the server's point: the bounds on A_2 in the proofs of Lemmas C.1 and E.3."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorems = {
    "movement_of_a_round": Theorem(
        source=Source(PAPER, "Lemma C.1, its proof", "Appendix C; reused in the non-convex case"),
        title="Squared movement of the server's point in one round of FedShuffle",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE,
        metric=Metric.last("movement2", LENGTH2, expectation=COHORTS),
        assumptions=(smooth_samples, data_weights),
        readings={
            "corrected": Reading(
                bound=2 * et**2 * ((1 + M) * L**2 * drift_0 + M * client_grad2_0 + grad2_0),
                belief=Belief.TRUE,
                replaces="the clients' squared gradients, which the paper bounds at once by Assumption 3.3",
                why="So it serves with and without convexity.",
            )
        },
    ),
    "movement_of_a_round_gen": Theorem(
        source=Source(PAPER, "Lemma E.3, its proof", "Appendix E.3; reused in the non-convex case"),
        title="Squared movement of the server's point in one round of FedShuffleGen",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE_GEN,
        metric=Metric.last("movement2", LENGTH2, expectation=COHORTS, surrogate=True),
        assumptions=(smooth_samples, followed_objective),
        readings={
            "corrected": Reading(
                bound=2 * et_gen**2 * ((1 + M1) * L**2 * drift_0 + M1 * client_grad2_0 + grad2_0),
                belief=Belief.TRUE,
                replaces="M2 by 1, and the clients' squared gradients, which the paper bounds at once by Assumption "
                "3.3",
                why="The square of the clients' mean is at most the mean of their squares by Jensen. Without "
                "Assumption 3.3 it serves with and without convexity.",
            )
        },
    ),
}
