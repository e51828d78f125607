"""(40): the aggregation weight of FedFix, with which every client has its importance in a window."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(40)", "Section 4.4; Table 2, 'd_i', FedFix"),
    title="Aggregation weight d_i of FedFix",
    symbols=NOTATION,
    metric=Metric.constant("participation/d_1", ONE, "the schedule"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("fedfix", any_value=("K", "times")),
    assumptions=(fixed_times, time_based),
    bound=sp.ceiling(tau_i / dt) * p_i,
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="A client takes part in every ceil(tau_i/dt)-th round, so that q_i = d_i/ceil(tau_i/dt) = p_i. Some "
            "rounds may have no client at all.",
        )
    },
)
