"""Lemma D.4: the momentum error of FedShuffleMVR after one round."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

CONDITIONS = (
    Condition("step size and L", 4 * L * eta_l <= 1, "eta_l <= 1/(4 L)"),
    Condition("step size and delta", 40 * delta * E * eta_l <= 1, "eta_l <= 1/(40 delta E)"),
    Condition("momentum and step size", a >= 1152 * E**2 * delta**2 * eta_l**2, "a >= 1152 E^2 delta^2 eta_l^2"),
    Condition("momentum", a <= 1, "the momentum parameter a is at most 1"),
    P_IS_0,
)

theorem = Theorem(
    source=Source(PAPER, "Lemma D.4", "Appendix D, (29)"),
    title="Momentum error of FedShuffleMVR after one round",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle_mvr", ("E", "eta_l", "a"), any_value=("warm_up",)),
    metric=Metric.last(
        "momentum_error2",
        GRADIENT2,
        rounds=1,
        expectation="the client (one by weight) and the orders of its samples, given what came before",
    ),
    bound=(1 - sp.Rational(23, 24) * a) * h2
    + 3 * a**2 * gam2
    + 16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2_i / D_i
    + 8 * eta_l**2 * delta**2 * E * S,
    trivial=h2,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            conditions=CONDITIONS,
            assumptions=(smooth_samples, local_variance, hessian_similarity),
            replaces="the display of x+ - x in the printed proof",
            why="It leaves out the sum of grad f(y_{i,e}) and, with it, one of three terms of the square. With that "
            "term the constants become 8343/800, 8343/800, 2781/800 and 4881/800, below the printed 24, 24, 4 and 8. "
            "Assumption 3.3 is not used.",
        ),
        "as_printed": Reading(
            conditions=(*CONDITIONS, B_IS_1),
            assumptions=(smooth_samples, gradient_dissimilarity, local_variance, hessian_similarity),
            remark="The lemma is true; the equation for x+ - x in its printed proof is not: where m = grad f(x) and "
            "one client has one sample, its right side is 0.",
        ),
    },
)
