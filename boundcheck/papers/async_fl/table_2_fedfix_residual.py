"""Table 2: residual of FedFix, (41)."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.papers.async_fl._times import (
    F_het,
    alone,
    fixed_times,
    time_based,
)
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading("as_printed", Belief.TRUE),
        FEDFIX,
        "R_loss",
        F_het,
        fixed_times,
        time_based,
        alone,
        at_most=True,
    ),
)
