"""(36): with the time-based weights of asynchronous FedAvg every client has its importance in a window."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(36)", "Section 4.3"),
    title="Expected weight q_i of a client of asynchronous FedAvg",
    symbols=(*NOTATION, nonnegative("d_i", "aggregation weight of the client", key="participation/d_1")),
    metric=Metric.constant("participation/mean_q_1", ONE, "the schedule"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("fedavg_async", any_value=("K", "times")),
    assumptions=(fixed_times, one_by_one),
    bound=d_i / (tau_i * rate_sum),
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="In a window of W = nu (sum of 1/tau_j) rounds client i takes part nu/tau_i times; for the "
            "time-based weight d_i = (sum of 1/tau_j) tau_i p_i the expected weight is p_i.",
        )
    },
)
