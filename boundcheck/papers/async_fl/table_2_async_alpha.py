"""Table 2: alpha of asynchronous FedAvg."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import ASYNC, entry
from boundcheck.theory.assumptions import fixed_times, one_by_one
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading(
            "as_printed",
            Belief.OPEN,
            remark="One client a round in a fixed order: E w_i w_j = 0 = q_i q_j, so that every alpha satisfies "
            "Assumption 5; alpha = 1 leaves no variance, alpha = 0 the largest. Outside of its open interval (0, 1).",
        ),
        ASYNC,
        "alpha",
        sp.S.Zero,
        fixed_times,
        one_by_one,
    ),
)
