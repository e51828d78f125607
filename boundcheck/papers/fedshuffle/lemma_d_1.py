"""Lemma D.1: how far the average gradient of a reshuffled MVR epoch is from the gradient at its start.

The printed reading is compared where both orders of two samples are enumerated: in one dimension, with the curvature
curved L and gradients that differ by 2 half, so that P = 0 and sigma_i = half; g_y and g_x are gradients of f_i.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

DATA = (
    Symbol("curved", "curvature of the samples over L", ONE, low=Fraction(-1), high=Fraction(1), latex="c"),
    *(
        Symbol(name, meaning, VALUE / LENGTH, latex=latex)
        for name, latex, meaning in (
            ("g_y", "g_y", "gradient of f_i at the start of the epoch"),
            ("g_x", "g_x", "gradient of f_i at the start of the round"),
            ("mom", "m", "momentum"),
            ("half", "s", "half the difference of the samples' gradients"),
        )
    ),
)
curved, g_y, g_x, mom, half = (symbol.expr for symbol in DATA)
# by the sample that comes first: its step (12) with the direction (13) moves the other's gradient
moved = [curved * L * eta_l / 2 * (g_y + sign * half + (1 - a) * (mom - g_x - sign * half)) for sign in (1, -1)]

OVER = "the order of the samples in the epoch, given what came before"

theorem = Theorem(
    source=Source(PAPER, "Lemma D.1", "Appendix D, (26)"),
    title="One local epoch of FedShuffleMVR: the average gradient against that at its start",
    symbols=(*NOTATION, *DATA),
    metric=Metric.last("epoch_error2", GRADIENT2, expectation=OVER),
    bound=2 * eta_l**2 * L**2 * sigma2_i / D_i + eta_l**2 * L**2 * d2,
    conditions=(
        Condition("step size and L", 2 * L * eta_l <= 1, "eta_l <= 1/(2 L)"),
        Condition("momentum", a <= 1, "the momentum parameter a is at most 1"),
        P_IS_0,
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            algorithm=Algorithm("fedshuffle_mvr", ("eta_l", "a"), any_value=("E", "eta_g", "warm_up")),
            assumptions=(smooth_samples, local_variance),
            replaces="the first equality of the printed proof and its two estimates of sums over j",
            why="Equation (13) subtracts the sample's gradient at x, where the proof has grad f_i(x); with the "
            "sample's the variance is up to 4 sigma_i^2. Splitting the square 3 : 3/2 instead of 2 : 2, over the "
            "positions after 0, ..., |D_i|-1 steps, gives the printed constants for every |D_i|. Assumption 3.3 is not "
            "used.",
        ),
        "as_printed": Reading(
            metric=Metric.formula(
                GRADIENT2,
                sum((change / 2) ** 2 for change in moved) / 2,
                quantity="epoch_error2",
                expectation=OVER,
                where={"D_i": sp.Integer(2), "sigma2_i": half**2, "d2": (a * g_y + (1 - a) * (mom + g_y - g_x)) ** 2},
            ),
            assumptions=(smooth_samples, gradient_dissimilarity, local_variance),
            remark="The lemma is true; its printed proof replaces grad f_ij(x) by grad f_i(x) and ends with an "
            "estimate that is false for |D_i| <= 12.",
        ),
    },
)
