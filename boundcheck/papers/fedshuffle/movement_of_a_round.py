"""How far one round moves the server's point: the bound on A_2 in the proof of Lemma C.1, which needs no convexity."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma C.1, its proof", "Appendix C; reused in the non-convex case"),
    title="Squared movement of the server's point in one round of FedShuffle",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.last("movement2", LENGTH2, expectation="cohorts and orders of the samples"),
    assumptions=(smooth_samples, data_weights),
    readings={
        "corrected": Reading(
            bound=2 * et**2 * ((1 + M) * L**2 * drift_0 + M * client_grad2_0 + grad2_0),
            belief=Belief.TRUE,
            replaces="the clients' squared gradients, which the paper bounds at once by Assumption 3.3",
            why="So it serves with and without convexity.",
        ),
    },
)
