"""Lemmas D.1 to D.5 on FedShuffleMVR.

D.1: how far the average gradient of a reshuffled epoch is from the gradient at its start. D.2: how far the direction of
an epoch is from the gradient of f. D.3: how far the local epochs move from the start of the round. D.4: the momentum
error after one round. D.5: the mean squared gradient at the epochs' starts over all rounds.

The printed reading of D.1 is compared where both orders of two samples are enumerated: in one dimension, with the
curvature curved L and gradients that differ by 2 half, so that P = 0 and sigma_i = half; g_y and g_x are gradients of
f_i.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

DATA = (
    Symbol("curved", "curvature of the samples over L", ONE, low=Fraction(-1), high=Fraction(1), latex="c"),
    Symbol("g_y", "gradient of f_i at the start of the epoch", VALUE / LENGTH, latex="g_y"),
    Symbol("g_x", "gradient of f_i at the start of the round", VALUE / LENGTH, latex="g_x"),
    Symbol("mom", "momentum", VALUE / LENGTH, latex="m"),
    Symbol("half", "half the difference of the samples' gradients", VALUE / LENGTH, latex="s"),
)
curved, g_y, g_x, mom, half = (symbol.expr for symbol in DATA)
# by the sample that comes first: its step (12) with the direction (13) moves the other's gradient
moved = [curved * L * eta_l / 2 * (g_y + sign * half + (1 - a) * (mom - g_x - sign * half)) for sign in (1, -1)]
direction = a * g_y + (1 - a) * (mom + g_y - g_x)

OF_AN_EPOCH = "the order of the samples in the epoch, given what came before"
OF_A_ROUND = "the client (one by weight) and the orders of its samples, given what came before"
METHOD = Algorithm("fedshuffle_mvr", ("E", "eta_l", "a"), any_value=("warm_up",))

STEP_AND_L = Condition("step size and L", 2 * L * eta_l <= 1, "eta_l <= 1/(2 L)")
MOMENTUM = Condition("momentum", a <= 1, "the momentum parameter a is at most 1")
CONDITIONS = (  # of D.4 and D.5
    Condition("step size and L", 4 * L * eta_l <= 1, "eta_l <= 1/(4 L)"),
    Condition("step size and delta", 40 * delta * E * eta_l <= 1, "eta_l <= 1/(40 delta E)"),
    Condition("momentum and step size", a >= 1152 * E**2 * delta**2 * eta_l**2, "a >= 1152 E^2 delta^2 eta_l^2"),
    MOMENTUM,
    P_IS_0,
)

MOMENTUM_ERROR = SYMBOLS["h2"].but(name="h2_0", meaning="squared momentum error |m^0 - grad f(x^0)|^2 at the start, in "
                                   "expectation", key="start/momentum_error2", latex=r"\|h^0\|^2")  # fmt: skip
h2_0 = MOMENTUM_ERROR.expr

# Psi^0, the objective gap plus a multiple of the momentum error
psi_0 = F + sp.Rational(288, 23) * eta_l * E / a * h2_0

theorems = {
    "lemma_d_1": Theorem(
        source=Source(PAPER, "Lemma D.1", "Appendix D, (26)"),
        title="One local epoch of FedShuffleMVR: the average gradient against that at its start",
        symbols=(*NOTATION, *DATA),
        metric=Metric.last("epoch_error2", GRADIENT2, expectation=OF_AN_EPOCH),
        bound=2 * eta_l**2 * L**2 * sigma2_i / D_i + eta_l**2 * L**2 * d2,
        conditions=(STEP_AND_L, MOMENTUM, P_IS_0),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                algorithm=Algorithm("fedshuffle_mvr", ("eta_l", "a"), any_value=("E", "eta_g", "warm_up")),
                assumptions=(smooth_samples, local_variance),
                replaces="the first equality of the printed proof and its two estimates of sums over j",
                why="Equation (13) subtracts the sample's gradient at x, where the proof has grad f_i(x); with the "
                "sample's the variance is up to 4 sigma_i^2. Splitting the square 3 : 3/2 instead of 2 : 2, over the "
                "positions after 0, ..., |D_i|-1 steps, gives the printed constants for every |D_i|. Assumption 3.3 is "
                "not used.",
            ),
            "as_printed": Reading(
                metric=Metric.formula(
                    GRADIENT2,
                    sum((change / 2) ** 2 for change in moved) / 2,
                    quantity="epoch_error2",
                    expectation=OF_AN_EPOCH,
                    where={"D_i": sp.Integer(2), "sigma2_i": half**2, "d2": direction**2},
                ),
                assumptions=(smooth_samples, gradient_dissimilarity, local_variance),
                remark="The lemma is true; its printed proof replaces grad f_ij(x) by grad f_i(x) and ends with an "
                "estimate that is false for |D_i| <= 12.",
            ),
        },
    ),
    "lemma_d_2": Theorem(
        source=Source(PAPER, "Lemma D.2", "Appendix D, (27)"),
        title="The direction of an epoch of FedShuffleMVR against the gradient of f",
        symbols=(*NOTATION, SYMBOLS["a"].but(low_open=False)),
        algorithm=Algorithm("fedshuffle_mvr", ("a",), any_value=("E", "eta_g", "warm_up")),
        metric=Metric.last("direction_error2", GRADIENT2, expectation="none: it holds for every outcome"),
        conditions=(MOMENTUM,),
        assumptions=(hessian_similarity,),
        belief=Belief.TRUE,
        best="as_printed",
        readings={
            "as_printed": Reading(
                bound=3 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
                remark="In the proof a factor 3, a square and an inequality sign are missing in one line; the next has "
                "them.",
            ),
            "sharp": Reading(
                bound=3 * (1 - a) ** 2 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
                replaces="the factor 1 of the momentum error by (1 - a)^2",
                why="The direction carries the momentum with the factor 1 - a, which the last line of the proof rounds "
                "up to 1. With a = 1 no momentum is left, and neither is its error.",
            ),
        },
    ),
    "lemma_d_3": Theorem(
        source=Source(PAPER, "Lemma D.3", "Appendix D, (28)"),
        title="Drift of the epochs of one round of FedShuffleMVR",
        symbols=NOTATION,
        algorithm=METHOD,
        metric=Metric.last("summed_epoch_drift2", LENGTH2, expectation=OF_A_ROUND),
        conditions=(
            Condition("step size and delta", 4 * delta * E * eta_l <= 1, "eta_l <= 1/(4 delta E)"),
            *(STEP_AND_L, MOMENTUM, P_IS_0),
        ),
        assumptions=(smooth_samples, local_variance, hessian_similarity),
        belief=Belief.TRUE,
        best="as_printed",
        readings={
            "as_printed": Reading(
                bound=16 * E**2 * eta_l**2 * S
                + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * sigma2_i / D_i),
                remark="a <= 1 is used and not named. The printed proof has a sign and an index of the inner sum "
                "wrong, which its estimates do not notice.",
            ),
            "sharp": Reading(
                bound=sp.Rational(48, 37)
                * E
                * (E - 1)
                * eta_l**2
                * (3 * S + 9 * E * ((1 - a) ** 2 * h2 + a**2 * gam2) + 4 * E * eta_l**2 * L**2 * sigma2_i / D_i),
                replaces="the factors 16, 48, 48 and 16 by 144/37, 432/37 (1 - a)^2, 432/37 and 192/37, and E^2 by E "
                "(E - 1)",
                why="The same chain without its roundings: the positions at the starts of the epochs sum up to E (E - "
                "1)/2 steps, 3 + 6 eta_l^2 L^2 is at most 9/2, what is left of the drift at least 37/64, and the "
                "momentum enters with 1 - a. A round of a single epoch has no drift.",
            ),
        },
    ),
    "lemma_d_4": Theorem(
        source=Source(PAPER, "Lemma D.4", "Appendix D, (29)"),
        title="Momentum error of FedShuffleMVR after one round",
        symbols=NOTATION,
        algorithm=METHOD,
        metric=Metric.last("momentum_error2", GRADIENT2, rounds=1, expectation=OF_A_ROUND),
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
                why="It leaves out the sum of grad f(y_{i,e}) and, with it, one of three terms of the square. With "
                "that term the constants become 8343/800, 8343/800, 2781/800 and 4881/800, below the printed 24, 24, 4 "
                "and 8. Assumption 3.3 is not used.",
            ),
            "as_printed": Reading(
                conditions=(*CONDITIONS, B_IS_1),
                assumptions=(smooth_samples, gradient_dissimilarity, local_variance, hessian_similarity),
                remark="The lemma is true; the equation for x+ - x in its printed proof is not: where m = grad f(x) "
                "and one client has one sample, its right side is 0.",
            ),
        },
    ),
    "lemma_d_5": Theorem(
        source=Source(PAPER, "Lemma D.5", "Appendix D, (30)"),
        title="FedShuffleMVR: mean squared gradient at the starts of the epochs",
        symbols=(*NOTATION, MOMENTUM_ERROR),
        algorithm=METHOD,
        metric=Metric.mean(
            "epoch_grad2", GRADIENT2, index=R, expectation="clients (one by weight a round) and orders of the samples"
        ),
        bound=5 * psi_0 / (eta_l * R * E) + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2,
        conditions=(*CONDITIONS, B_IS_1),
        assumptions=MVR,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                replaces="the coefficient of the squared gradients in the last two displays of the printed proof",
                why="Lemma D.4 adds 9216/23 of E^2 delta^2 eta_l^2/a inside the bracket, not 104; from the printed "
                "eta_l/4 that would leave less than eta_l/5. The line before it gives 63/200 instead of 1/4, and "
                "63/200 - 2/23 > 1/5.",
            ),
            "as_printed": Reading(
                remark="The lemma is true; the coefficient 104 in its printed proof is not, and with the right one the "
                "printed 1/4 does not leave 1/5. a <= 1 is used and not named."
            ),
        },
    ),
}
