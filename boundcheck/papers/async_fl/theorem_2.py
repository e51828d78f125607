"""Theorem 2: the mean squared gradient of the federated problem."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import L, P, R, Reading, U, chi2_max, mean_over_rounds, q_min, told
from boundcheck.papers.async_fl._theorem_1 import (
    AS_CORRECTED,
    AS_PRINTED,
    Setting,
    corrected,
    corrected_errors,
    printed,
    printed_errors,
)
from boundcheck.theory.assumptions import every_type_every_round, no_empty_rounds
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Statement

BEST = "corrected"

_REAL, _VIRTUAL = (mean_over_rounds(name, GRADIENT2) for name in ("grad2", "virtual_grad2"))
_ITERATES = (
    "U is a mean over the iterates, not known before a run, unless every kind of data takes part in every round."
)
_GAP = "(105) is corrected, and divided by the smallest q(n). Rounds without clients have a gradient, but no L^n."
_corrected = R + corrected_errors().total


def _statement(reading: Reading, setting: Setting, bound: Any, *more: Any, virtual: bool = False) -> Statement:
    return told(
        reading,
        ("Theorem 2", "Section 3.3, (17) to (19); constants from Appendix B, (105)"),
        "Mean squared gradient of the federated problem",
        _VIRTUAL if virtual else _REAL,
        bound,
        conditions=setting.conditions,
        assumptions=(*setting.assumptions, *more),
        changed=setting.changed,
    )


STATEMENTS = (
    _statement(
        corrected(more=_GAP, remark=_ITERATES),
        AS_CORRECTED,
        4 * L * (2 * chi2_max + 1) / q_min * _corrected + 8 * L * P + 8 * L * U,
        no_empty_rounds,
    ),
    _statement(
        corrected("corrected_every_type", f"{_GAP} With every kind of data in every round U = 0 and 8 becomes 4."),
        AS_CORRECTED,
        4 * L * (chi2_max + 1) / q_min * _corrected + 4 * L * P,
        every_type_every_round,
    ),
    _statement(
        printed(remark=f"The constants are those of (105), which has 1/q^2 where 1/q belongs. {_ITERATES}"),
        AS_PRINTED,
        4 * L * (chi2_max / q_min + 1 / q_min**2) * (R + printed_errors().total) + 4 * L * P + 4 * L * U,
        virtual=True,
    ),
)
