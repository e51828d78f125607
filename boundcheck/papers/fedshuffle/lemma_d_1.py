"""Lemma D.1: how far the average gradient of a reshuffled MVR epoch is from the gradient at its start."""

from __future__ import annotations

from boundcheck.papers.fedshuffle.definitions import NOTATION, P_IS_0, PAPER, D_i, L, a, d2, eta_l, sigma2_i
from boundcheck.theory.assumptions import gradient_dissimilarity, local_variance, smooth_samples
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "Lemma D.1", "Appendix D, (26)"),
    title="One local epoch of FedShuffleMVR: the average gradient against that at its start",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle_mvr", ("eta_l", "a")),
    metric=Metric(
        "epoch_error2", GRADIENT2, expectation="the order of the samples in the epoch, given what came before"
    ),
    bound=2 * eta_l**2 * L**2 * sigma2_i / D_i + eta_l**2 * L**2 * d2,
    conditions=(
        Condition("step size and L", 2 * L * eta_l <= 1, "eta_l <= 1/(2 L)"),
        Condition("momentum", a <= 1, "the momentum parameter a is at most 1"),
        P_IS_0,
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            assumptions=(smooth_samples, local_variance),
            replaces="the first equality of the printed proof and its two estimates of sums over j",
            why="Equation (13) subtracts the sample's gradient at x, where the proof has grad f_i(x); with the "
            "sample's the variance is up to 4 sigma_i^2. Splitting the square 3 : 3/2 instead of 2 : 2, over the "
            "positions after 0, ..., |D_i|-1 steps, gives the printed constants for every |D_i|. Assumption 3.3 is not "
            "used.",
        ),
        "as_printed": Reading(
            assumptions=(smooth_samples, gradient_dissimilarity, local_variance),
            remark="The lemma is true; its printed proof replaces grad f_ij(x) by grad f_i(x) and ends with an "
            "estimate that is false for |D_i| <= 12.",
        ),
    },
)
