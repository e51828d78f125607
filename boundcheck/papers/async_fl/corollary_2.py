"""Corollary 2: for which delays and windows a step size makes the bound of Theorem 3 vanish."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import N, Reading, formula, nonnegative
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Condition, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_WINDOW = nonnegative("a", "the window W is of order N^a")
_DELAY = nonnegative("b", "the delay tau is of order N^b")
_STEP = Symbol("c", "the local step size is of order N^(-c)", ONE)
_a, _b, _c = _WINDOW.expr, _DELAY.expr, _STEP.expr
_CONDITIONS = (
    Condition("window", sp.Lt(_a, _c)),
    Condition("delay", sp.Lt(_b, _c)),
    Condition("step", sp.Lt(_c, 1), "so that a = 1, the window that always exists, is impossible"),
)


def _statement(reading: Reading, exponent: Any) -> Statement:
    return formula(
        reading,
        ("Corollary 2", "Section 3.4, (31)"),
        "Order in N of the bound of Theorem 3",
        N**exponent,
        ONE,
        conditions=_CONDITIONS,
        changed=(_WINDOW, _DELAY, _STEP),
    )


STATEMENTS = (
    _statement(
        Reading("as_printed", Belief.TRUE, remark="From eta_l W, 1/(eta_l N), tau eta_l and eta_l, as in its proof."),
        sp.Max(_a - _c, _c - 1, _b - _c, -_c),
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="tau eta_l by (tau eta_l)^2",
            why="The delay enters Theorem 3 as the square of K et tau; eta_l is at most eta_l W.",
        ),
        sp.Max(_a - _c, _c - 1, 2 * (_b - _c)),
    ),
)
