"""The drift of one client's visit by its gradient where the visit begins, of which Lemma E.4 takes the mean."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.4, its proof", "Appendix E.3; the terms of one client"),
    title="Drift of one visit of FedShuffleGen by the client's gradient",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l",), any_value=("E", "eta_g", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.last("visit_drift", LENGTH2, expectation="orders of the client's samples", surrogate=True),
    conditions=(Condition("local step", eta_l <= 1 / (2 * L), "the local iterates do not run away within a visit"),),
    assumptions=(smooth_samples, local_variance),
    readings={
        "corrected": Reading(
            bound=2 * eta_l**2 * ((1 + P2_gen) * own_grad2_0 + own_noise_0) / (1 - 2 * eta_l**2 * L**2),
            belief=Belief.TRUE,
            replaces="the sum over all clients by one of its terms, solved for the drift",
            why="The proof bounds the drift client by client. It needs c_i >= E_i |D_i|, so that E_i epochs together "
            "move by at most eta_l times a mean of gradients.",
        ),
    },
)
