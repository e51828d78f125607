"""(97): conditions on the step that imply all those which the proof of Theorem 1 uses; here the tightest of them."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._shared import L, Reading, beta, e, et, formula, h, rho, tau
from boundcheck.papers.async_fl._theorem_1 import CONTRACTION, CONTRACTION_PRINTED
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Condition, Statement

BEST = "corrected"


def conditions(step: Any) -> tuple[Condition, ...]:
    """The three conditions of (97), the middle one on `step`."""
    return (
        Condition("local work", sp.Le(48 * e * L**2, 1)),
        Condition("step", sp.Le(144 * rho**2 * step * L, 1)),
        Condition("delay", sp.Le(2304 * rho**3 * (h * tau * L) ** 2, 1)),
    )


def _statement(reading: Reading, bound: Any, step: Any, most_beta: Any, why: str = "") -> Statement:
    return formula(
        reading,
        ("(97)", "Appendix A.5; the left side is c of (92), which must be at most 1"),
        "What comes back of the mean gap, under simplified step conditions",
        bound,
        ONE,
        conditions=(*conditions(step), Condition("beta", sp.Le(beta, most_beta), why)),
        trivial=sp.S.One,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the effective step by that of a round, and beta <= 1 by beta <= rho",
            why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l. beta <= rho is "
            "enough; at rho = alpha = beta = 1 and the limits of all three conditions c = 1.",
        ),
        CONTRACTION,
        h,
        rho,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="beta <= 1 is said of every scheme ('we note that'), but asynchronous FedAvg has beta up to "
            "tau_M/tau_0; at beta = 2 it fails for rho = alpha = 1.",
        ),
        CONTRACTION_PRINTED,
        et,
        sp.S.One,
        "said to hold",
    ),
)
