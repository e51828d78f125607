"""Theorem 6: if Theorem 5 holds in every iteration, the mean squared gradient norm of T iterations is O(1/T).

Besides, the decrease of each of its iterations, which is that of Theorem 5 with one B for all points; and how many
iterations bring the mean squared gradient norm to eps.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

AT_EACH_ITERATION = (smooth_clients, lower_curvature, bounded_dissimilarity, inexact_solves, unbiased_gradient_cohort)
FROM_ANY_POINT: dict[str, Any] = {**ONE_ITERATION, "symbols": (*NOTATION, B2_EVERYWHERE)}
# of all iterations together, where f must be bounded below
SUMMED = (*AT_EACH_ITERATION[:3], bounded_below, *AT_EACH_ITERATION[3:])
DECREASE = (ABOVE_CURVATURE, Condition("positive decrease", rho_5 > 0, "rho > 0", vacuity=True))
DECREASE_SHARP = (ABOVE_CURVATURE, Condition("positive decrease", rho_5_sharp > 0, "rho > 0", vacuity=True))
B_AT_ALL_POINTS = (
    "B bounds the dissimilarity at every point that the run can reach; a B for all points forces all grad F_k to "
    "vanish wherever grad f does."
)

RHO = positive("rho", "guaranteed decrease of an iteration over |grad f|^2", STEP, r"\rho")
rho = RHO.expr
# compared where T iterations bring the bound Delta/(rho T) of the mean to eps, and T - part of them exactly to eps
DATA = (
    count("T", "iterations"),
    nonnegative("part", "unneeded part of the last iteration", high=Fraction(1), high_open=True, latex="u"),
)
rounds, part = (symbol.expr for symbol in DATA)

theorems = {
    "theorem_6": Theorem(
        source=Source(PAPER, "Theorem 6", "Section IV-B"),
        title="Mean squared gradient norm of T iterations of FedDANE",
        symbols=(*NOTATION, B2_EVERYWHERE),
        metric=Metric.mean("grad2", GRADIENT2, index=T, expectation=COHORTS),
        algorithm=FEDDANE,
        conditions=DECREASE,
        assumptions=SUMMED,
        belief=Belief.TRUE,
        printed_rate=1 / T,
        readings={
            "corrected": Reading(
                bound=gap_0 / (rho_5 * T),
                replaces="O(.) by its constant, and the indices t = 1, ..., T by t = 0, ..., T - 1",
                why="Summing the decrease of the iterations 1, ..., T telescopes over the points w^0, ..., w^{T-1}, "
                "and f is at least f*, which must be finite.",
                remark=B_AT_ALL_POINTS,
            ),
            "as_printed": Reading(
                # (T + 1)/T times the mean over t = 0, ..., T is the mean over t = 1, ..., T plus grad2_0/T
                metric=Metric.mean("grad2", GRADIENT2, index=T, rounds=T + 1, scale=(T + 1) / T, expectation=COHORTS),
                bound=gap_0 / (rho_5 * T) + grad2_0 / T,
                remark="The mean over t = 1, ..., T, with 1 as the constant of O(.): both sides carry grad2_0/T more "
                "than printed, since the mean over t = 0, ..., T is compared. The decrease is needed at w^T too. "
                + B_AT_ALL_POINTS,
            ),
            "sharp": Reading(
                bound=gap_0 / (rho_5_sharp * T),
                conditions=DECREASE_SHARP,
                assumptions=(*SUMMED, gradient_cohort_variance),
                replaces="Theorem 5's rho by its sharp reading",
                why=MORE_DEVICES + ".",
                remark=B_AT_ALL_POINTS,
            ),
        },
    ),
    "theorem_6_iteration": Theorem(
        **FROM_ANY_POINT,
        source=Source(PAPER, "Theorem 6", "Section IV-B, 'let the assumption of Theorem 5 hold at each iteration'"),
        title="Sufficient decrease of an iteration of FedDANE from any point",
        assumptions=AT_EACH_ITERATION,
        best="as_printed",
        readings={
            "as_printed": Reading(
                bound=gap_0 - rho_5 * grad2_0,
                conditions=DECREASE,
                remark="A B for all points forces all grad F_k to vanish wherever grad f does.",
            ),
            "sharp": Reading(
                bound=gap_0 - rho_5_sharp * grad2_0,
                conditions=DECREASE_SHARP,
                assumptions=(*AT_EACH_ITERATION, gradient_cohort_variance),
                replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
                why=MORE_DEVICES + ".",
            ),
        },
    ),
    "theorem_6_rounds": Theorem(
        source=Source(PAPER, "Theorem 6", "Section IV-B, T = O(Delta/(rho*eps))"),
        title="Iterations after which the mean squared gradient norm is at most eps",
        symbols=(*NOTATION, RHO, *DATA),
        metric=Metric.formula(ONE, rounds, where={"gap_0": rho * eps * rounds}),
        kind=Kind.EQUALITY,
        belief=Belief.TRUE,
        printed_rate=gap_0 / (rho * eps),
        readings={
            "corrected": Reading(
                bound=sp.ceiling(gap_0 / (rho * eps)),
                metric=Metric.formula(ONE, rounds, where={"gap_0": rho * eps * (rounds - part)}),
                replaces="O(Delta/(rho*eps)) by the least whole number that is at least Delta/(rho*eps)",
                why="The mean is at most Delta/(rho*T), and T is a whole number.",
                remark="Each iteration takes two communications.",
            ),
            "as_printed": Reading(bound=gap_0 / (rho * eps), remark="The order, with the constant 1."),
        },
    ),
}
