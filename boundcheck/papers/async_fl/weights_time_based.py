"""(36), its end: the aggregation weight with which asynchronous FedAvg solves the federated problem."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading, formula
from boundcheck.papers.async_fl._times import CLIENT_TIME, IMPORTANCE, RATE_SUM, p_i, rate_sum, tau_i
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    formula(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="One client a round. eta_g d_i in proportion to tau_i p_i is enough. It is the importance p_i over "
            "the share of rounds in which the client takes part, also where clients that finish together form one "
            "round; the shares of the rounds are then others.",
        ),
        ("(36)", "Section 4.3; Table 2, 'd_i', asynchronous"),
        "Time-based aggregation weight d_i",
        rate_sum * tau_i * p_i,
        ONE,
        changed=(CLIENT_TIME, IMPORTANCE, RATE_SUM),
    ),
)
