"""Table 2: window of asynchronous FedAvg."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, entry
from boundcheck.papers.async_fl._times import M, slowest
from boundcheck.theory.assumptions import fixed_times, one_by_one, whole_times
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the power M by M - 1, as in the text of Section 4.3",
            why="The least common multiple over tau_i is at most the product of the other M - 1 times.",
        ),
        ASYNC,
        "window",
        M * slowest ** (M - 1),
        fixed_times,
        one_by_one,
        whole_times,
        at_most=True,
    ),
    entry(
        Reading("as_printed", Belief.TRUE, remark="True and loose by a factor tau_M."),
        ASYNC,
        "window",
        M * slowest**M,
        fixed_times,
        one_by_one,
        whole_times,
        at_most=True,
    ),
)
