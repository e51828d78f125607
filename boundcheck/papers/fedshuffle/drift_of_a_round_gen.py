"""The drift of one round of FedShuffleGen by the clients' gradients at its start: what Lemma E.4 is made of."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.4, its proof", "Appendix E.3; the display before (5) is used"),
    title="Drift of one round of FedShuffleGen by the clients' gradients",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l",), any_value=("E", "eta_g", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.last("drift", LENGTH2, expectation="orders of the samples", surrogate=True),
    conditions=(Condition("local step", eta_l <= 1 / (2 * L), "the local iterates do not run away within a visit"),),
    assumptions=(smooth_samples, local_variance, followed_objective),
    readings={
        "corrected": Reading(
            bound=2 * eta_l**2 * ((1 + P2_gen) * client_grad2_0 + sigma2_gen) / (1 - 2 * eta_l**2 * L**2),
            belief=Belief.TRUE,
            replaces="the step condition of Lemma E.4 by eta_l*L <= 1/2, and its gap by the clients' squared gradients",
            why="The display of the proof before Assumption 3.3 and the step condition are used, solved for the drift, "
            "holds with and without convexity, at any server step.",
        ),
    },
)
