"""Table 2: window of FedFix."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.papers.async_fl._times import LCM, M, dt, fastest, slowest
from boundcheck.theory.assumptions import fixed_times
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="tau_0 by dt, and the factor M by 1",
            why="The window is the least common multiple of the ceil(tau_i/dt), at most their product.",
        ),
        FEDFIX,
        "window",
        sp.ceiling(slowest / dt) ** M,
        fixed_times,
        at_most=True,
    ),
    entry(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="the bound by the window itself",
            why="The schedule repeats after the least common multiple of the ceil(tau_i/dt) rounds.",
        ),
        FEDFIX,
        "window",
        LCM.expr,
        fixed_times,
    ),
    entry(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Meant for dt = tau_0: for times 7, 9, 10 and dt = 1 it is 24, but the window 630.",
        ),
        FEDFIX,
        "window",
        M * sp.ceiling(slowest / fastest) ** M,
        fixed_times,
        at_most=True,
    ),
)
