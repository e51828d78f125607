"""Appendix C.2: alpha of uniform sampling without replacement."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.papers.async_fl._times import (
    M,
    m,
)
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="Increasing in m, not proportional to it as Appendix C.2 says; M is 2 at least.",
        ),
        "uniform_sampling",
        "alpha",
        M * (m - 1) / (m * (M - 1)),
        domain=(sp.Le(m, M), sp.Ge(M, 2)),
    ),
)
