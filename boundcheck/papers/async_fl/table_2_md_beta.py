"""Appendix C.2: beta of sampling with replacement."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.papers.async_fl._times import (
    m,
)
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    entry(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="gamma_i is q_i/m exactly. The formula max d_i - alpha q_i does not apply, since the weight of a "
            "client has more than two values.",
        ),
        "md_sampling",
        "beta",
        1 / m,
    ),
)
