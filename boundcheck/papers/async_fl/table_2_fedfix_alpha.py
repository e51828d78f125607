"""Table 2: alpha of FedFix."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.theory.assumptions import fixed_times
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="For fixed update times. Outside of the open interval (0, 1) of Assumption 5.",
        ),
        FEDFIX,
        "alpha",
        sp.S.One,
        fixed_times,
    ),
)
