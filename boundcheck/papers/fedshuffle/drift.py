"""The drift of one round or visit by the clients' gradients at its start: what Lemmas C.2 and E.4 are made of."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

GEN = Algorithm("fedshuffle_gen", ("eta_l",), any_value=("E", "eta_g", "c", "weights", "normaliser", "participation"))
STEP_GEN = Condition("local step", eta_l <= 1 / (2 * L), "the local iterates do not run away within a visit")
BEFORE = (
    "The display of the proof before Assumption 3.3 and the step condition are used, solved for the drift, holds with"
)

theorems = {
    "drift_of_a_round": Theorem(
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
                why=f"{BEFORE} and without convexity. The paper's sigma_i^2 and P_i^2 lack their index there.",
            )
        },
    ),
    "drift_of_a_round_gen": Theorem(
        source=Source(PAPER, "Lemma E.4, its proof", "Appendix E.3; the display before (5) is used"),
        title="Drift of one round of FedShuffleGen by the clients' gradients",
        symbols=NOTATION,
        algorithm=GEN,
        metric=Metric.last("drift", LENGTH2, expectation="orders of the samples", surrogate=True),
        conditions=(STEP_GEN,),
        assumptions=(smooth_samples, local_variance, followed_objective),
        readings={
            "corrected": Reading(
                bound=2 * eta_l**2 * ((1 + P2_gen) * client_grad2_0 + sigma2_gen) / (1 - 2 * eta_l**2 * L**2),
                belief=Belief.TRUE,
                replaces="the step condition of Lemma E.4 by eta_l*L <= 1/2, and its gap by the clients' squared "
                "gradients",
                why=f"{BEFORE} and without convexity, at any server step.",
            )
        },
    ),
    "drift_of_a_visit": Theorem(
        source=Source(PAPER, "Lemma E.4, its proof", "Appendix E.3; the terms of one client"),
        title="Drift of one visit of FedShuffleGen by the client's gradient",
        symbols=NOTATION,
        algorithm=GEN,
        metric=Metric.last("visit_drift", LENGTH2, expectation="orders of the client's samples", surrogate=True),
        conditions=(STEP_GEN,),
        assumptions=(smooth_samples, local_variance),
        readings={
            "corrected": Reading(
                bound=2 * eta_l**2 * ((1 + P2_gen) * own_grad2_0 + own_noise_0) / (1 - 2 * eta_l**2 * L**2),
                belief=Belief.TRUE,
                replaces="the sum over all clients by one of its terms, solved for the drift",
                why="The proof bounds the drift client by client. It needs c_i >= E_i |D_i|, so that E_i epochs "
                "together move by at most eta_l times a mean of gradients.",
            )
        },
    ),
}
