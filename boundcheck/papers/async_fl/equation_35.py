"""(35): the window of asynchronous FedAvg."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl.definitions import NOTATION, PAPER, rate_sum
from boundcheck.theory.assumptions import fixed_times, one_by_one, whole_times
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Algorithm, Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

nu = sp.Symbol("nu", real=True)

theorem = Theorem(
    source=Source(PAPER, "(35)", "Section 4.3"),
    title="Window of asynchronous FedAvg",
    symbols=NOTATION,
    metric=Metric("constant:schedule/window", ONE, expectation="none: a constant of the schedule"),
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
        ),
    },
)
