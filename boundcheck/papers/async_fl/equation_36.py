"""(36): with the time-based weights of asynchronous FedAvg every client has its importance in a window."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading, formula
from boundcheck.papers.async_fl._times import OWN, d_i, rate_sum, tau_i
from boundcheck.theory.assumptions import fixed_times, one_by_one
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    formula(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="In a window of W = nu (sum of 1/tau_j) rounds client i takes part nu/tau_i times; for the "
            "time-based "
            "weight d_i = (sum of 1/tau_j) tau_i p_i the expected weight is p_i.",
        ),
        ("(36)", "Section 4.3"),
        "Expected weight q_i of a client of asynchronous FedAvg",
        d_i / (tau_i * rate_sum),
        ONE,
        assumptions=(fixed_times, one_by_one),
        changed=OWN,
    ),
)
