"""Table 2: residual of FedFix, (41)."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.papers.async_fl._times import F_het
from boundcheck.theory.assumptions import fixed_times, own_minimisers, time_based
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
        own_minimisers,
        at_most=True,
    ),
)
