"""Table 2: delay of asynchronous FedAvg, (34)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, entry
from boundcheck.papers.async_fl._times import M, fastest, slowest, updates
from boundcheck.theory.assumptions import fixed_times, one_by_one, slowest_at_an_end, whole_times
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="tau_M/tau_0 by the next larger integer",
            why="While the slowest client works, client j delivers at most ceil(tau_M/tau_j) times.",
        ),
        ASYNC,
        "tau_delay",
        (M - 1) * sp.ceiling(slowest / fastest),
        fixed_times,
        one_by_one,
        at_most=True,
    ),
    entry(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="the order by the exact delay",
            why="The slowest client waits for ceil(tau_M/tau_j) deliveries of every other client j, where clients "
            "that finish together come in one order, the slowest last or first. In the middle of the order the delay "
            "can be less: 4 and not 5 for times 2, 5, 4 in this order.",
        ),
        ASYNC,
        "tau_delay",
        updates,
        fixed_times,
        one_by_one,
        whole_times,
        slowest_at_an_end,
    ),
    entry(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="(34) is an order; here with the constant 1. For times 2 and 3 the delay is 2, and 3/2 (2 - 1) is "
            "less.",
        ),
        ASYNC,
        "tau_delay",
        (M - 1) * slowest / fastest,
        fixed_times,
        one_by_one,
        at_most=True,
    ),
)
