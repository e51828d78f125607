"""(42): FedFix at step sizes in proportion to 1/sqrt(KN)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._rates import (
    CAP,
    CHOICE,
    EQUAL,
    LOST_K,
    ONE_SERVER_STEP,
    OWN,
    WHOLE_PERIODS,
    M,
    after_n_rounds,
    at_rate,
    c,
    errors,
    order,
)
from boundcheck.papers.async_fl._shared import K, N, R, Reading, Sigma, W, alpha, beta, dist2_0, q_bar, told
from boundcheck.papers.async_fl._theorem_3 import OF_CORRECTED, WINDOW
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_SOURCE = ("(42)", "Section 4.4")
_TITLE = "Rate of FedFix"

STATEMENTS = (
    told(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the terms under O(.) by the corrected Theorem 3 with all its constants",
            why=f"{LOST_K}.",
            remark="For deterministic update times, where alpha = 1 and beta = 0. The O hides rho too, at most c.",
        ),
        _SOURCE,
        _TITLE,
        after_n_rounds("gap", VALUE, scale=q_bar, surrogate=True),
        at_rate(errors() + WINDOW).subs({alpha: 1, beta: 0}),
        conditions=(
            CAP,
            ONE_SERVER_STEP,
            WHOLE_PERIODS,
            Condition("alpha", sp.Eq(alpha, 1)),
            Condition("beta", sp.Eq(beta, 0), "who arrives in a round is certain"),
        ),
        assumptions=(*OF_CORRECTED.assumptions, *EQUAL),
        choices=CHOICE,
        changed=OWN,
        method="fedfix",
    ),
    order(
        Reading("as_printed", Belief.FALSE, remark=f"{LOST_K}. The point x of its first term is theta*."),
        _SOURCE,
        _TITLE,
        dist2_0 / sp.sqrt(K * N)
        + (K - 1) * (R + Sigma) / N
        + (1 / sp.sqrt(K * N) + K * c**2 / N) * (R + c * Sigma / M)
        + (W - 1) / sp.sqrt(K * N),
    ),
)
