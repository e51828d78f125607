"""The step condition of Theorem 1, solved for the step size."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

POSITIVE_LMAX = positive("Lmax", "largest smoothness constant L_j of a block", CURVATURE, r"L_{\max}",
                         "blocks/Lmax_weighted")  # fmt: skip

theorem = Theorem(
    source=Source(PAPER, "Theorem 1", "its step condition Lmax^2 eta^2 tau (tau-1) + eta Lmax <= 1"),
    title="The largest step size of Theorem 1",
    symbols=(*NOTATION, POSITIVE_LMAX),
    metric=Metric.formula(STEP),
    kind=Kind.FORMULA,
    belief=Belief.TRUE,
    best="factored",
    readings={
        "factored": Reading(
            bound=1 / (tau * Lmax),
            replaces="the quadratic condition by eta <= 1/(tau Lmax)",
            why="With e = eta Lmax it factors as (e tau - 1)(e tau - e + 1) <= 0, and the second factor is positive.",
        ),
        "as_printed": Reading(
            bound=2 / (1 + sp.sqrt(1 + 4 * tau * (tau - 1))) / Lmax,
            remark="The positive root of the printed quadratic; it equals 1/(tau Lmax).",
        ),
    },
)
