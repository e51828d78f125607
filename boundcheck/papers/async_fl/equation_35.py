"""(35): the window of asynchronous FedAvg."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

nu = sp.Symbol("nu", real=True)

theorem = Theorem(
    source=Source(PAPER, "(35)", "Section 4.3"),
    title="Window of asynchronous FedAvg",
    symbols=NOTATION,
    metric=Metric.constant("schedule/window", ONE, "the schedule"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("fedavg_async", any_value=("K", "times")),
    assumptions=(fixed_times, one_by_one, whole_times),
    bound=nu * rate_sum,
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="The sum over the clients of nu/tau_i. Clients that finish together must be a round each; as one "
            "cohort, as in Algorithm 1, they make a shorter window: times 1 and 2 have W = 3 one by one and 2 "
            "together.",
        )
    },
)
