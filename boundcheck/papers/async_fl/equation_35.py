"""(35): the window of asynchronous FedAvg."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading, of_constant
from boundcheck.papers.async_fl._times import OWN, nu, rate_sum
from boundcheck.theory.assumptions import fixed_times, one_by_one, whole_times
from boundcheck.theory.statement import Belief, Kind

BEST = "as_printed"

STATEMENTS = (
    of_constant(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The sum over the clients of nu/tau_i. Clients that finish together must be a round each; as one "
            "cohort, as in Algorithm 1, they make a shorter window: times 1 and 2 have W = 3 one by one and 2 "
            "together.",
        ),
        ("(35)", "Section 4.3"),
        "Window of asynchronous FedAvg",
        "window",
        nu * rate_sum,
        kind=Kind.EQUALITY,
        assumptions=(fixed_times, one_by_one, whole_times),
        changed=OWN,
        method="fedavg_async",
    ),
)
