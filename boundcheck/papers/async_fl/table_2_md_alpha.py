"""Appendix C.2: alpha of sampling with replacement."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.papers.async_fl._times import (
    m,
)
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (entry(Reading("as_printed", Belief.TRUE), "md_sampling", "alpha", 1 - 1 / m),)
