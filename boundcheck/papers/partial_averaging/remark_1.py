"""Remark 1: the bound of Theorem 1 does not depend on the partition or on the order of its blocks."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Remark 1", "whatever the partition and the order of its blocks"),
    title="The long-run mean squared gradient does not depend on the partition",
    symbols=NOTATION,
    metric=Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    kind=Kind.LIMSUP,
    algorithm=Algorithm("block_averaging", ("tau", "eta"), any_value=("partition", "order")),
    conditions=(
        Condition("step size", Lmax**2 * eta**2 * tau * (tau - 1) + eta * Lmax <= 1, "exactly eta*Lmax <= 1/tau"),
    ),
    readings={
        "corrected": Reading(
            symbols=GLOBAL,
            bound=eta / m * Lmax * sigma2 + eta**2 * (tau - 1) * Lmax**2 * sigma2,
            assumptions=(smooth_globally, block_variance, iid_clients, averages_as_objective, bounded_below),
            belief=Belief.TRUE,
            replaces="the constants L_j of the blocks by one constant L of the whole gradient",
            why="What is left of (4) as K grows, eta L sigma^2/m + eta^2 (tau-1) L^2 sigma^2, has no partition in it; "
            "the L_j and sigma_j^2 of (4) have.",
            remark="At a fixed step the mean squared gradient does not vanish. It does for steps that decrease with K, "
            "as Remark 2 has them.",
        ),
        "as_printed": Reading(
            bound=eta / m * sum_L_sigma2 + eta**2 * (tau - 1) * sum_L2_sigma2,
            assumptions=(smooth_blocks, block_variance, iid_clients, averages_as_objective, bounded_below),
            belief=Belief.FALSE,
            remark="With the constants of the blocks read block by block the long-run bound depends on the partition, "
            "and coupled blocks exceed it by a factor of up to tau/2.",
        ),
    },
)
