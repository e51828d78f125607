"""Table 2: rounds of FedFix in a given time."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, rounds
from boundcheck.papers.async_fl._times import (
    T,
    dt,
)
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (rounds(Reading("as_printed", Belief.TRUE), FEDFIX, T / dt),)
