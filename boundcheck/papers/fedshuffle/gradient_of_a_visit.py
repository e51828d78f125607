"""How far the mean gradient of a visit is from the client's gradient where the visit begins."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.3, its proof", "Appendix E.3; the terms of one client"),
    title="Mean gradient of one visit of FedShuffleGen",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle_gen", (), any_value=("E", "eta_g", "c", "weights", "normaliser", "participation")),
    metric=Metric.last("visit_error2", GRADIENT2, expectation="orders of the client's samples", surrogate=True),
    assumptions=(smooth_samples,),
    readings={
        "corrected": Reading(
            bound=L**2 * visit_drift_0,
            belief=Belief.TRUE,
            replaces="the sum over all clients by one of its terms",
            why="Every epoch uses every sample once, so that the gradients at the start add up to the client's own.",
        )
    },
)
