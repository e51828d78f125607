"""Appendix C.2: beta of uniform sampling without replacement."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.papers.async_fl._times import (
    M,
    m,
    p_max,
)
from boundcheck.theory.assumptions import time_based
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading("as_printed", Belief.TRUE),
        "uniform_sampling",
        "beta",
        p_max * (M / m - M * (m - 1) / (m * (M - 1))),
        time_based,
        domain=(sp.Le(m, M), sp.Ge(M, 2)),
    ),
)
