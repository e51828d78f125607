"""(36): with the time-based weights of asynchronous FedAvg every client has its importance in a window."""

from __future__ import annotations

from boundcheck.papers.async_fl.definitions import NOTATION, PAPER, d_i, nonnegative, rate_sum, tau_i
from boundcheck.theory.assumptions import fixed_times, one_by_one
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "(36)", "Section 4.3"),
    title="Expected weight q_i of a client of asynchronous FedAvg",
    symbols=(*NOTATION, nonnegative("d_i", "aggregation weight of the client", key="participation/d_1")),
    metric=Metric("constant:participation/mean_q_1", ONE, expectation="none: a constant of the schedule"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("fedavg_async", any_value=("K", "times")),
    assumptions=(fixed_times, one_by_one),
    bound=d_i / (tau_i * rate_sum),
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="In a window of W = nu (sum of 1/tau_j) rounds client i takes part nu/tau_i times; for the "
            "time-based weight d_i = (sum of 1/tau_j) tau_i p_i the expected weight is p_i.",
        ),
    },
)
