"""Corollary 1: the federated problem's mean gap where every round weighs the kinds of data as it does."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import L, R, Reading, dist2_0, mean_over_rounds, q_min, told
from boundcheck.papers.async_fl._theorem_1 import (
    AS_CORRECTED,
    AS_PRINTED,
    Setting,
    corrected,
    corrected_errors,
    printed,
    printed_errors,
)
from boundcheck.theory.assumptions import no_empty_rounds, same_expected_weights
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Statement

BEST = "corrected"

_REAL, _VIRTUAL = (mean_over_rounds(name, VALUE) for name in ("gap", "virtual_gap"))


def _statement(reading: Reading, setting: Setting, bound: Any, *more: Any, virtual: bool = False) -> Statement:
    return told(
        reading,
        ("Corollary 1", "Section 3.3, (20)"),
        "Mean gap of the federated problem under the same expected weights in every round",
        _VIRTUAL if virtual else _REAL,
        bound.subs(R, 0),  # L^n = q(n) L, so that all rounds have the same minimiser
        conditions=setting.conditions,
        assumptions=(*setting.assumptions, same_expected_weights, *more),
        trivial=L / 2 * dist2_0,
        changed=setting.changed,
    )


STATEMENTS = (
    _statement(
        corrected(more="Since L^n = q(n) L, the gap of L is that of L^n divided by q(n), which (20) drops."),
        AS_CORRECTED,
        corrected_errors().total / q_min,
        no_empty_rounds,
    ),
    _statement(
        printed(
            remark="q(n) is dropped: a single client with a small aggregation weight breaks the bound even for K = 1. "
            "'W_n is empty' in the proof must be: no kind of data is outside W_n.",
        ),
        AS_PRINTED,
        printed_errors().total,
        virtual=True,
    ),
)
