"""The recursion in the proof of Theorem E.1 where the losses are not convex."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1, non-convex recursion", "end of Appendix E.3"),
    title="One round of FedShuffleGen without convexity",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.last("gap", VALUE, rounds=1, expectation="cohorts and orders of the samples", surrogate=True),
    conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
    assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, followed_objective),
    trivial=F,
    readings={
        "sharp": Reading(
            bound=F
            - et_gen / 4 * grad2_0
            + sp.Rational(3, 2) * L**2 * et_gen * eta_l**2 * H_gen
            + et_gen**2 * M1 * L * G2,
            belief=Belief.TRUE,
            replaces="et/8 and 9/4 by et/4 and 3/2, the factor L of the drift's term by L^2, and et/eta_g by the local "
            "step",
            why="The two uses of the step condition share it: where one needs all of it the other needs none.",
        ),
    },
)
