"""Theorem 5.2 before its choices: FedShuffleMVR at any step size and momentum that Lemma D.5 allows.

The first momentum is the mean of `warm_up` sampled gradients at x^0; the paper takes as many warm-up rounds as rounds.
"""

from dataclasses import replace

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

METRIC = Metric.mean("epoch_grad2", GRADIENT2, rounds=R, expectation="clients, orders of the samples and the warm-up")
CONDITIONS = (
    Condition("step size and smoothness", eta_l <= 1 / (4 * L)),
    Condition("step size and similarity", 40 * delta * E * eta_l <= 1),
    Condition("momentum from below", a >= 1152 * (E * delta * eta_l) ** 2),
    Condition("momentum from above", a <= 1),
    B_IS_1,
    P_IS_0,
)

theorem = Theorem(
    source=Source(PAPER, "Theorem 5.2", "Appendix D, the displays after Lemma D.5"),
    title="FedShuffleMVR at a fixed step size and momentum",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle_mvr", ("E", "eta_l", "a", "warm_up")),
    metric=METRIC,
    assumptions=(
        smooth_samples,
        gradient_dissimilarity,
        local_variance,
        hessian_similarity,
        bounded_below,
        data_weights,
    ),
    trivial=2 * L * F,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            metric=replace(METRIC, index="R"),  # for every R
            bound=5 * F / (eta_l * E * R) + 63 * G2 / (a * R * warm_up) + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2,
            conditions=CONDITIONS,
            replaces="the last term 293760 G^2 by 255 a G^2, and R^2 by R times the warm-up rounds",
            why="Lemma D.5 gives 255 a G^2, which is 293760 E^2 delta^2 eta_l^2 G^2 at the smallest a; the printed "
            "term has lost that factor. The error of the first momentum is at most G^2 over the warm-up rounds, whose "
            "number need not be R. The proof uses a <= 1 and B = 1.",
        ),
        "as_printed": Reading(
            symbols=(HORIZON,),
            bound=5 * F / (eta_l * E * R) + 63 * G2 / (a * R**2) + 25 * eta_l**2 * L**2 * sigma2 + 293760 * G2,
            conditions=(*CONDITIONS, Condition("warm-up", sp.Eq(warm_up, R), "as many warm-up rounds as rounds")),
            remark="The last term has lost the factor E^2 delta^2 eta_l^2, which leaves a bound that is true and says "
            "little, since its last term does not shrink. The printed conditions write K for E.",
        ),
    },
)
