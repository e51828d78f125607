"""Table 2: residual of asynchronous FedAvg, (37)."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, entry
from boundcheck.papers.async_fl._times import F_het
from boundcheck.theory.assumptions import fixed_times, one_by_one, own_minimisers, time_based
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="With one client a round the minimiser of L^n is the own one of that client.",
        ),
        ASYNC,
        "R_loss",
        F_het,
        fixed_times,
        one_by_one,
        time_based,
        own_minimisers,
    ),
)
