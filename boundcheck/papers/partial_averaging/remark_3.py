"""Remark 3: the bound of Theorem 2 does not depend on the partition or on the order of its blocks."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

INTERVAL = Condition("step size and interval", 2 * tau * (tau - 1) * (2 * beta2 + 1) * (eta * Lmax) ** 2 <= 1)

theorem = Theorem(
    source=Source(PAPER, "Remark 3", "whatever the partition and the order of its blocks"),
    title="The long-run mean squared gradient does not depend on the partition",
    symbols=NOTATION,
    metric=Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    kind=Kind.LIMSUP,
    algorithm=Algorithm("block_averaging", ("tau", "eta"), any_value=("partition", "order")),
    readings={
        "corrected": Reading(
            symbols=GLOBAL,
            bound=2 * eta * sum_p2 * Lmax * sigma2
            + 3 * eta**2 * (tau - 1) * Lmax**2 * sigma2
            + 6 * eta**2 * tau * (tau - 1) * Lmax**2 * kappa2,
            conditions=(Condition("step size", eta * Lmax <= 1), INTERVAL),
            assumptions=ONE_CONSTANT,
            belief=Belief.TRUE,
            replaces="the constants L_j of the blocks by one constant L, and averages with 1/m by averages with p_i",
            why="What is left of Theorem 2 as K grows then has no partition in it.",
            remark="At a fixed step the mean squared gradient does not vanish.",
        ),
        "as_printed": Reading(
            bound=4 * eta * sum_p2 * sum_L_sigma2
            + 3 * eta**2 * (tau - 1) * sum_L2_sigma2
            + 6 * eta**2 * tau * (tau - 1) * sum_L2_kappa2,
            conditions=(Condition("step size", eta * Lmax <= sp.Rational(1, 2)), INTERVAL),
            assumptions=PRINTED,
            belief=Belief.FALSE,
            remark="Averages with 1/m do not even have the stationary points of F where the p_i differ, whatever the "
            "partition.",
        ),
    },
)
