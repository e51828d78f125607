"""Table 2: rounds of synchronous FedAvg in a given time."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import SYNC, rounds
from boundcheck.papers.async_fl._times import T, slowest
from boundcheck.theory.assumptions import fixed_times
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (rounds(Reading("as_printed", Belief.TRUE), SYNC, T / slowest, fixed_times),)
