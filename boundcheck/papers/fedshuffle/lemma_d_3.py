"""Lemma D.3: how far the local epochs of FedShuffleMVR move from the start of the round."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma D.3", "Appendix D, (28)"),
    title="Drift of the epochs of one round of FedShuffleMVR",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle_mvr", ("E", "eta_l", "a"), any_value=("warm_up",)),
    metric=Metric.last(
        "summed_epoch_drift2",
        LENGTH2,
        expectation="the client (one by weight) and the orders of its samples, given what came before",
    ),
    conditions=(
        Condition("step size and delta", 4 * delta * E * eta_l <= 1, "eta_l <= 1/(4 delta E)"),
        Condition("step size and L", 2 * L * eta_l <= 1, "eta_l <= 1/(2 L)"),
        Condition("momentum", a <= 1, "the momentum parameter a is at most 1"),
        P_IS_0,
    ),
    assumptions=(smooth_samples, local_variance, hessian_similarity),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=16 * E**2 * eta_l**2 * S
            + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * sigma2_i / D_i),
            remark="a <= 1 is used and not named. The printed proof has a sign and an index of the inner sum wrong, "
            "which its estimates do not notice.",
        ),
        "sharp": Reading(
            bound=sp.Rational(48, 37)
            * E
            * (E - 1)
            * eta_l**2
            * (3 * S + 9 * E * ((1 - a) ** 2 * h2 + a**2 * gam2) + 4 * E * eta_l**2 * L**2 * sigma2_i / D_i),
            replaces="the factors 16, 48, 48 and 16 by 144/37, 432/37 (1 - a)^2, 432/37 and 192/37, and E^2 by E (E - "
            "1)",
            why="The same chain without its roundings: the positions at the starts of the epochs sum up to E (E - 1)/2 "
            "steps, 3 + 6 eta_l^2 L^2 is at most 9/2, what is left of the drift at least 37/64, and the momentum "
            "enters with 1 - a. A round of a single epoch has no drift.",
        ),
    },
)
