"""Table 2: rounds of asynchronous FedAvg in a given time, (39)."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, rounds
from boundcheck.papers.async_fl._times import T, rate_sum
from boundcheck.theory.assumptions import fixed_times, one_by_one
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    rounds(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="For clients that finish together as rounds of their own, and T a multiple of all update times.",
        ),
        ASYNC,
        T * rate_sum,
        fixed_times,
        one_by_one,
    ),
)
