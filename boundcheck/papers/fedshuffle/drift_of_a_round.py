"""The drift of one round by the clients' gradients at its start: what Lemma C.2 and its non-convex form share."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma C.2, its proof", "Appendix C; the display before (5) is used"),
    title="Drift of one round of FedShuffle by the clients' gradients",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l"), any_value=("eta_g", "participation")),
    metric=Metric.last("drift", LENGTH2, expectation="orders of the samples"),
    conditions=(
        Condition("local step", eta_l <= 1 / (2 * E * L), "the local iterates do not run away within a visit"),
    ),
    assumptions=(smooth_samples, local_variance, data_weights),
    readings={
        "corrected": Reading(
            bound=2 * eta_l**2 * ((E**2 + P2_c) * client_grad2_0 + sigma2_c) / (1 - 2 * eta_l**2 * L**2 * E**2),
            belief=Belief.TRUE,
            replaces="the step condition of Lemma C.2 by eta_l*E*L <= 1/2, and its gap by the clients' squared "
            "gradients",
            why="The display of the proof before Assumption 3.3 and the step condition are used, solved for the drift, "
            "holds with and without convexity. The paper's sigma_i^2 and P_i^2 lack their index there.",
        ),
    },
)
