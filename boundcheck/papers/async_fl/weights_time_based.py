"""(36), its end: the aggregation weight with which asynchronous FedAvg solves the federated problem."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "(36)", "Section 4.3; Table 2, 'd_i', asynchronous"),
    title="Time-based aggregation weight d_i",
    symbols=NOTATION,
    metric=Metric.constant("participation/d_1", ONE, "the schedule"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("fedavg_async", any_value=("K", "times")),
    assumptions=(fixed_times, one_by_one, time_based),
    bound=rate_sum * tau_i * p_i,
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="One client a round. eta_g d_i in proportion to tau_i p_i is enough. It is the importance p_i over "
            "the share of rounds in which the client takes part, also where clients that finish together form one "
            "round; the shares of the rounds are then others.",
        )
    },
)
