"""What the mean gradient of a visit lacks of the client's own progress towards the minimiser: Lemma B.1 for a visit."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma E.3, its proof", "Appendix E.3; the terms of one client"),
    title="Progress of one visit of FedShuffleGen towards the minimiser",
    symbols=(*NOTATION, CONVEXITY),
    algorithm=Algorithm("fedshuffle_gen", (), any_value=("E", "eta_g", "c", "weights", "normaliser", "participation")),
    metric=Metric.last("visit_shortfall", VALUE, expectation="orders of the client's samples", surrogate=True),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples),
    readings={
        "corrected": Reading(
            bound=L * visit_drift_0,
            belief=Belief.TRUE,
            replaces="the sum over all clients by one of its terms",
            why="The metric is f_i(x) - f_i(x*) + mu/4 |x - x*|^2 - <G_i, x - x*>, G_i the mean gradient of the visit; "
            "Lemma B.1 in every step, where every epoch uses every sample once.",
        )
    },
)
