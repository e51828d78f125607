"""(108): biased sampling in part of a window, so that the window as a whole is unbiased."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._rates import M, order
from boundcheck.papers.async_fl._shared import (
    K,
    N,
    Reading,
    Sigma,
    W,
    alpha,
    beta,
    dist2_0,
    et,
    mean_over_rounds,
    q_bar,
    tau,
    told,
)
from boundcheck.papers.async_fl._theorem_3 import OF_CORRECTED, SCOPE, corrected_total
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_SOURCE = ("(108)", "Appendix C.3")
_TITLE = "Sampling by a criterion, mended within a window"

STATEMENTS = (
    told(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the bound of synchronous FedAvg by that of Theorem 3",
            why="In rounds that choose by a criterion L^n is another problem than F, so that R is positive and stays "
            "in "
            "the error terms, and q(n) need not be 1.",
            remark=SCOPE,
        ),
        _SOURCE,
        _TITLE,
        mean_over_rounds("gap", VALUE, scale=q_bar, surrogate=True),
        corrected_total().subs({alpha: 1, beta: 0, tau: 0}),
        conditions=(
            *OF_CORRECTED.conditions,
            Condition("no delay", sp.Eq(tau, 0)),
            Condition("alpha", sp.Eq(alpha, 1)),
            Condition("certain cohorts", sp.Eq(beta, 0)),
        ),
        assumptions=OF_CORRECTED.assumptions,
        method="biased_sampling",
    ),
    order(
        Reading("as_printed", Belief.FALSE, remark="The order is right in W and K; R of the biased rounds is missing."),
        _SOURCE,
        _TITLE,
        dist2_0 / sp.sqrt(K * N) + (K - 1) * Sigma / N + Sigma / (M * sp.sqrt(K * N)) + et * (W - 1) * K,
    ),
)
