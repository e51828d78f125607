"""Table 2: delay of FedFix."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading
from boundcheck.papers.async_fl._table_2 import FEDFIX, entry
from boundcheck.papers.async_fl._times import dt, fastest, slowest
from boundcheck.theory.assumptions import fixed_times
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    entry(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="ceil(tau_M/dt) by one less",
            why="A contribution that arrives in the round in which its model was sent out has the delay 0.",
        ),
        FEDFIX,
        "tau_delay",
        sp.ceiling(slowest / dt) - 1,
        fixed_times,
    ),
    entry(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="The upper end in Table 2. It does not depend on dt: for times 2, 3, 5 and dt = 1 it is 2, but "
            "the delay 4.",
        ),
        FEDFIX,
        "tau_delay",
        sp.floor(slowest / fastest),
        fixed_times,
        at_most=True,
    ),
    entry(
        Reading("as_printed_text", Belief.FALSE, remark="Section 4.4; one too many."),
        FEDFIX,
        "tau_delay",
        sp.ceiling(slowest / dt),
        fixed_times,
    ),
)
