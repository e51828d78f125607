"""Theorem 3, second claim (27): the mean squared gradient of the federated problem."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import F_het, L, Reading, chi2, mean_over_rounds, q_bar, told
from boundcheck.papers.async_fl._theorem_1 import Setting, corrected, printed
from boundcheck.papers.async_fl._theorem_3 import (
    OF_CORRECTED,
    OF_PRINTED,
    SCOPE,
    WEIGHT_LOST,
    corrected_total,
    printed_total,
)
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Statement

BEST = "corrected"


def _statement(reading: Reading, setting: Setting, bound: Any, metric: str) -> Statement:
    return told(
        reading,
        ("Theorem 3, second claim", "Section 3.4, (27)"),
        "Mean squared gradient of the federated problem, schedules that repeat",
        mean_over_rounds(metric, GRADIENT2),
        bound,
        conditions=setting.conditions,
        assumptions=setting.assumptions,
        changed=setting.changed,
    )


STATEMENTS = (
    _statement(
        corrected(
            more=f"(27) prints eps without a factor, which has not the unit of a squared gradient; with q the mean of "
            f"q(n) it is 4 L (chi^2 + 1)/q. {WEIGHT_LOST}",
            remark=SCOPE,
        ),
        OF_CORRECTED,
        4 * L / q_bar * (chi2 + 1) * corrected_total() + 4 * L * chi2 / q_bar * F_het,
        "grad2",
    ),
    _statement(
        printed(remark="eps has not the unit of the left side. The factor 4 L of the last term is that of (105)."),
        OF_PRINTED,
        printed_total() + 4 * L * chi2 * F_het,
        "virtual_grad2",
    ),
)
