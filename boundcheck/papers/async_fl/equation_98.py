"""(98): the largest local step size of Theorem 1."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl.definitions import NOTATION, PAPER, K, L, beta, eta_g, rho, tau
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(PAPER, "(98)", "Appendix A.5; the step condition of Theorem 1"),
    title="Largest local step size",
    symbols=NOTATION,
    metric=Metric("none", STEP),
    kind=Kind.FORMULA,
    readings={
        "corrected": Reading(
            bound=sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L),
            belief=Belief.TRUE,
            conditions=(
                Condition(
                    "beta",
                    beta <= 9 * rho,
                    "the paper takes beta <= 1 for granted when it simplifies its step conditions",
                ),
            ),
            replaces="the silent beta <= 1 by beta <= 9 rho",
            why="At the limit of (98) 48 e L^2 <= 1/48, 144 rho^2 h L <= 1/(tau + 1) and "
            "2304 rho^3 (h tau L)^2 <= tau^2/(9 rho (tau + 1)^2), which leaves room for beta <= 9 rho, also with the "
            "step h of a round. A larger beta lets a scheme diverge within (98).",
        ),
        "as_printed": Reading(
            bound=sp.Min(1, 1 / (3 * rho**2 * eta_g * (tau + 1))) / (48 * K * L),
            belief=Belief.FALSE,
            remark="beta is not limited, but c of (92) is at most 1 only for beta <= 10 rho. (98) is far from tight.",
        ),
        "sharp": Reading(
            bound=1
            / (
                L
                * sp.Max(
                    sp.sqrt(48) * (K - 1),
                    144 * rho**2 * eta_g * K,
                    48 * rho ** sp.Rational(3, 2) * eta_g * K * tau,
                )
            ),
            belief=Belief.TRUE,
            conditions=(Condition("beta", beta <= rho),),
            replaces="(98) by (97) solved for the step",
            why="(97), with the step of a round, is enough for beta <= rho, and (98) is often far below it.",
            remark="48 K L is for sqrt(48) (K-1) L, and rho^2 for rho^(3/2): no square is missing.",
        ),
    },
)
