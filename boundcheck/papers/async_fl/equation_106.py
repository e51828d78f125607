"""(106): centralised learning, K N steps of stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import (
    CORRECTED,
    L_OF_CLIENTS,
    PRINTED,
    ROUNDS,
    K,
    L,
    Reading,
    Sigma,
    dist2_0,
    eta_g,
    eta_l,
    mean_over_rounds,
    told,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Condition, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

# Theorem 1 for single steps (K = 1 and K N rounds): alpha = rho = 1 and no delay
_BOUND = dist2_0 / (eta_l * K * ROUNDS) + 6 * eta_l * Sigma


def _statement(
    reading: Reading, cap: Any, metric: str, assumptions: tuple[Assumption, ...], *changed: Symbol, **more: Any
) -> Statement:
    return told(
        reading,
        ("(106)", "Appendix C.1; constants from Theorem 1"),
        "Mean gap of centralised stochastic gradient descent",
        mean_over_rounds(metric, VALUE),
        _BOUND,
        conditions=(
            Condition("step size (98)", sp.Le(eta_l, cap)),
            Condition("server step size", sp.Eq(eta_g, 1), "redundant with the local one"),
            *more.get("conditions", ()),
        ),
        assumptions=assumptions,
        changed=changed,
        method="centralised",
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the mean over all K N points by that over rounds of one step, and the delay 1 by 0",
            why="The only client starts every round from the newest model, so that there is no delay; and a method "
            "that is measured after rounds is K N rounds of one step.",
        ),
        1 / (144 * L),
        "gap",
        CORRECTED,
        conditions=(Condition("local steps", sp.Eq(K, 1)),),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="Here virtual models are the iterates. Section C.1 takes the delay as 1, which only makes the step "
            "smaller. Its x in the second term is theta*.",
        ),
        1 / (288 * K * L),
        "virtual_gap",
        PRINTED,
        L_OF_CLIENTS,
    ),
)
