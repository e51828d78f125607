"""(98): the largest local step size of Theorem 1."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import K, L, Reading, beta, eta_g, formula, rho, tau
from boundcheck.papers.async_fl._theorem_1 import BETA_AT_MOST_9_RHO
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Condition, Statement

BEST = "corrected"

_CAP = sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L)
_TIGHT = 1 / (
    L
    * sp.Max(
        sp.sqrt(48) * (K - 1),
        144 * rho**2 * eta_g * K,
        48 * rho ** sp.Rational(3, 2) * eta_g * K * tau,
    )
)


def _statement(reading: Reading, bound: Any, *conditions: Condition) -> Statement:
    return formula(
        reading,
        ("(98)", "Appendix A.5; the step condition of Theorem 1"),
        "Largest local step size",
        bound,
        STEP,
        conditions=conditions,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the silent beta <= 1 by beta <= 9 rho",
            why="At the limit of (98) 48 e L^2 <= 1/48, 144 rho^2 h L <= 1/(tau + 1) and "
            "2304 rho^3 (h tau L)^2 <= tau^2/(9 rho (tau + 1)^2), which leaves room for beta <= 9 rho, also with the "
            "step h of a round. A larger beta lets a scheme diverge within (98).",
        ),
        _CAP,
        BETA_AT_MOST_9_RHO,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="beta is not limited, but c of (92) is at most 1 only for beta <= 10 rho. (98) is far from tight.",
        ),
        _CAP,
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="(98) by (97) solved for the step",
            why="(97), with the step of a round, is enough for beta <= rho, and (98) is often far below it.",
            remark="48 K L is for sqrt(48) (K-1) L, and rho^2 for rho^(3/2): no square is missing.",
        ),
        _TIGHT,
        Condition("beta", sp.Le(beta, rho)),
    ),
)
