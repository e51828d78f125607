"""Theorem 3: the mean gap of the surrogate problem (10), for schedules that repeat after W rounds."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import Reading, mean_over_rounds, q_bar, told
from boundcheck.papers.async_fl._theorem_1 import Setting, corrected, printed
from boundcheck.papers.async_fl._theorem_3 import (
    IDLE,
    OF_CORRECTED,
    OF_PRINTED,
    SCOPE,
    WEIGHT_LOST,
    corrected_total,
    printed_total,
)
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Statement

BEST = "corrected"


def _statement(reading: Reading, setting: Setting, bound: Any, metric: str) -> Statement:
    return told(
        reading,
        ("Theorem 3", "Section 3.4, (26); constants from (28) and Appendix A"),
        "Mean gap of the surrogate problem",
        mean_over_rounds(metric, VALUE, scale=q_bar, surrogate=True),
        bound,
        conditions=setting.conditions,
        assumptions=setting.assumptions,
        trivial=IDLE,
        changed=setting.changed,
    )


STATEMENTS = (
    _statement(corrected(more=WEIGHT_LOST, remark=SCOPE), OF_CORRECTED, corrected_total(), "gap"),
    _statement(printed(remark=f"{WEIGHT_LOST} {SCOPE}"), OF_PRINTED, printed_total(), "virtual_gap"),
)
