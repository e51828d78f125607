"""The model discrepancy of periodic averaging in pure noise: a saw-tooth (Figure 2, periodic)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._discrepancy import STEP_NOISE, of_pure_noise
from boundcheck.papers.partial_averaging._shared import Reading, k, tau
from boundcheck.theory.statement import Belief

BEST = "derived"

STATEMENTS = (
    of_pure_noise(
        Reading(
            "derived",
            Belief.TRUE,
            replaces="the figure's saw-tooth, for which no formula is printed",
            why="After every tau-th iteration the models agree, and until the next average every step adds its noise.",
            remark="The mean over a period is the constant of partial averaging, its peak twice that.",
        ),
        "Discrepancy of periodic averaging in pure noise",
        STEP_NOISE * (k - tau * sp.floor(k / tau)),
        "periodic_averaging",
        (),
    ),
)
