"""Remark 1: the bound of Theorem 1 does not depend on the partition or on the order of its blocks."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._remarks import long_run
from boundcheck.papers.partial_averaging._shared import BLOCKS, GLOBAL, STEP_1, Reading, Smooth, eta, iid, m, tau
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"


def _statement(reading: Reading, smooth: Smooth) -> Statement:
    bound = eta / m * smooth.noise + eta**2 * (tau - 1) * smooth.noise2
    return long_run(reading, smooth, "Remark 1", bound, (STEP_1,), iid(smooth))


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the constants L_j of the blocks by one constant L of the whole gradient",
            why="What is left of (4) as K grows, eta L sigma^2/m + eta^2 (tau-1) L^2 sigma^2, has no partition in it; "
            "the L_j and sigma_j^2 of (4) have.",
            remark="At a fixed step the mean squared gradient does not vanish. It does for steps that decrease with K, "
            "as Remark 2 has them.",
        ),
        GLOBAL,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="With the constants of the blocks read block by block the long-run bound depends on the partition, "
            "and coupled blocks exceed it by a factor of up to tau/2.",
        ),
        BLOCKS,
    ),
)
