"""Table 2: beta of asynchronous FedAvg."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, entry
from boundcheck.papers.async_fl._times import M, fastest, p_max, slowest
from boundcheck.theory.assumptions import fixed_times, one_by_one, plain_mean, time_based
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="clients of equal importance by any",
            why="max d_i = max p_i tau_i times the sum of 1/tau_j, which is at most M/tau_0.",
        ),
        ASYNC,
        "beta",
        M * p_max * slowest / fastest,
        fixed_times,
        one_by_one,
        time_based,
        at_most=True,
    ),
    entry(
        Reading(
            "as_printed", Belief.TRUE, remark="max d_i, which with alpha = 0 is beta, is at most this for p_i = 1/M."
        ),
        ASYNC,
        "beta",
        slowest / fastest,
        fixed_times,
        one_by_one,
        time_based,
        plain_mean,
        at_most=True,
    ),
)
