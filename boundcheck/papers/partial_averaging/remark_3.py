"""Remark 3: the bound of Theorem 2 does not depend on the partition or on the order of its blocks."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._remarks import long_run
from boundcheck.papers.partial_averaging._shared import (
    BLOCKS,
    GLOBAL,
    Reading,
    Smooth,
    gap_0,
    non_iid,
    steps_2,
    theorem_2_bound,
)
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"


def _statement(reading: Reading, smooth: Smooth) -> Statement:
    printed = smooth is BLOCKS
    bound = theorem_2_bound(smooth, 4 if printed else 2).subs(gap_0, 0)  # what is left as K grows
    steps = steps_2(sp.Rational(1, 2)) if printed else steps_2()  # the main text has 4 and steps up to 1/(2 Lmax)
    return long_run(reading, smooth, "Remark 3", bound, steps, non_iid(smooth, plain=printed))


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the constants L_j of the blocks by one constant L, and averages with 1/m by averages with p_i",
            why="What is left of Theorem 2 as K grows then has no partition in it.",
            remark="At a fixed step the mean squared gradient does not vanish.",
        ),
        GLOBAL,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Averages with 1/m do not even have the stationary points of F where the p_i differ, whatever the "
            "partition.",
        ),
        BLOCKS,
    ),
)
