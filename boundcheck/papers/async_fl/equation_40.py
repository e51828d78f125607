"""(40): the aggregation weight of FedFix, with which every client has its importance in a window."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading, formula
from boundcheck.papers.async_fl._times import OWN, VISIT, p_i
from boundcheck.theory.assumptions import fixed_times
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    formula(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="A client takes part in every ceil(tau_i/dt)-th round, so that q_i = d_i/ceil(tau_i/dt) = p_i. Some "
            "rounds may have no client at all.",
        ),
        ("(40)", "Section 4.4; Table 2, 'd_i', FedFix"),
        "Aggregation weight d_i of FedFix",
        VISIT * p_i,
        ONE,
        assumptions=(fixed_times,),
        changed=OWN,
    ),
)
