"""The model discrepancy of partial averaging in pure noise: constant from the first period on (Figure 2, partial)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._discrepancy import STEP_NOISE, of_pure_noise
from boundcheck.papers.partial_averaging._shared import Reading, k, tau
from boundcheck.theory.assumptions import even_noise
from boundcheck.theory.statement import Belief, Condition

BEST = "derived"

STATEMENTS = (
    of_pure_noise(
        Reading(
            "derived",
            Belief.TRUE,
            replaces="the figure's flat curve, for which no formula is printed",
            why="At any time the tau blocks are 0, 1, ..., tau - 1 steps from their last "
            "average, so that noise of equal variance in every block adds to (tau-1)/2 steps of the whole model.",
        ),
        "Discrepancy of partial averaging in pure noise",
        STEP_NOISE * (tau - 1) / 2,
        "partial_averaging",
        (Condition("after the first period", sp.Ge(k, tau)),),
        even_noise,
    ),
)
