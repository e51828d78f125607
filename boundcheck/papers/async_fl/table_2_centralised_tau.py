"""Appendix C.1: the delay of centralised learning."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import entry
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="1 by 0",
            why="The only client starts every round from the newest model.",
        ),
        "centralised",
        "tau_delay",
        sp.S.Zero,
    ),
    entry(
        Reading("as_printed", Belief.FALSE, remark="It only makes the allowed step smaller."),
        "centralised",
        "tau_delay",
        sp.S.One,
    ),
)
