"""(107): unbiased sampling of m clients a round."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._rates import CLIENTS, EQUAL, M
from boundcheck.papers.async_fl._shared import R, Reading, Sigma, mean_over_rounds, rho, tau, told
from boundcheck.papers.async_fl._theorem_1 import (
    AS_CORRECTED,
    AS_PRINTED,
    Setting,
    corrected_errors,
    printed,
    printed_errors,
)
from boundcheck.theory.assumptions import same_expected_weights
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Condition, Statement

BEST = "corrected"

_SAMPLING = {rho: 1, tau: 0, R: 0}


def _statement(reading: Reading, setting: Setting, errors: Any, metric: str) -> Statement:
    return told(
        reading,
        ("(107)", "Appendix C.2; constants from Theorem 1"),
        "Mean gap under unbiased sampling of clients",
        mean_over_rounds(metric, VALUE),
        errors(Sigma, Sigma / M).total.subs(_SAMPLING),
        conditions=(
            *setting.conditions,
            Condition("no delay", sp.Eq(tau, 0)),
            Condition("weights", sp.Eq(rho, 1), "whose expectations sum to 1"),
        ),
        assumptions=(*setting.assumptions, same_expected_weights, *EQUAL),
        changed=(CLIENTS, *setting.changed),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the last term, of order et beta Sigma, by K et beta Sigma",
            why="The cohort is drawn once for all K local steps, so that its variance enters with the step of a round.",
        ),
        AS_CORRECTED,
        corrected_errors,
        "gap",
    ),
    _statement(printed(remark="The last term is et beta Sigma."), AS_PRINTED, printed_errors, "virtual_gap"),
)
