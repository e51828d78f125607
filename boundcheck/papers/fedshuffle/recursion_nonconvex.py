"""The recursion in the proof of Theorem 5.1 where the losses are not convex."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem 5.1, non-convex recursion", "end of Appendix C"),
    title="One round of FedShuffle without convexity",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.last("gap", VALUE, rounds=1, expectation="cohorts and orders of the samples"),
    conditions=(
        Condition("step size", et <= 1 / (4 * beta_c * L)),
        Condition("server step size", eta_g >= 1),
        B_AT_LEAST_1,
    ),
    assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
    readings={
        "corrected": Reading(
            bound=F - et / 8 * grad2_0 + sp.Rational(9, 4) * L**2 * et**3 / (eta_g * E) ** 2 * H_c + et**2 * M * L * G2,
            belief=Belief.TRUE,
            replaces="the factor L of the drift's term by L^2",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit.",
        ),
        "as_printed": Reading(
            bound=F - et / 8 * grad2_0 + sp.Rational(9, 4) * L * et**3 / (eta_g * E) ** 2 * H_c + et**2 * M * L * G2,
            belief=Belief.FALSE,
            remark="The drift's term, taken over from Lemma C.2, lacks the unit of L. The hypothesis B >= 1 is put in. "
            "One client with the samples lam/2 (x -+ 1)^2 and the start at the minimiser breaks it for lam > 96.",
        ),
        "sharp": Reading(
            bound=F - et / 4 * grad2_0 + sp.Rational(3, 2) * L**2 * et**3 / (eta_g * E) ** 2 * H_c + et**2 * M * L * G2,
            belief=Belief.TRUE,
            replaces="et/8 and 9/4 by et/4 and 3/2",
            why="The two uses of the step condition share it: where one needs all of it the other needs none.",
        ),
    },
)
