"""Section 5.1: the hardware scenario F80."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import Reading, formula, nonnegative
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Statement

BEST = "as_printed_times"

_PERCENT = nonnegative("X", "how many per cent slower than the fastest client the slowest is")
_X = _PERCENT.expr


def _statement(reading: Reading, bound: Any) -> Statement:
    return formula(
        reading,
        ("Section 5.1", "'Hardware Scenarios', and Section 5.2.1"),
        "Update time of the slowest client over that of the fastest",
        bound,
        ONE,
        domain=(_X < 100,),
        changed=(_PERCENT,),
    )


STATEMENTS = (
    _statement(
        Reading(
            "as_printed_times",
            Belief.OPEN,
            remark="Section 5.2.1: clients 'communicate with the server up to 5 more times than the slowest one': the "
            "fastest needs 80 % less time.",
        ),
        1 / (1 - _X / 100),
    ),
    _statement(
        Reading("as_printed_slower", Belief.OPEN, remark="'Up to X% slower than the fastest', to the letter: 9/5."),
        1 + _X / 100,
    ),
)
