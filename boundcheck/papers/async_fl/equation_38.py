"""(38): asynchronous FedAvg with time-based weights at step sizes in proportion to 1/sqrt(KN)."""

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
    errors,
    order,
    ratio,
)
from boundcheck.papers.async_fl._shared import K, N, R, Reading, Sigma, W, dist2_0, q_bar, told
from boundcheck.papers.async_fl._theorem_1 import BETA_AT_MOST_9_RHO
from boundcheck.papers.async_fl._theorem_3 import OF_CORRECTED, WINDOW
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("(38)", "Section 4.3")
_TITLE = "Rate of asynchronous FedAvg"

STATEMENTS = (
    told(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the terms under O(.) by the corrected Theorem 3 with all its constants",
            why=f"{LOST_K}; the residual R is missing from the second term. The O hides rho too, which for one "
            f"client a "
            "round is max d_i, up to tau_M/tau_0: the constants have the powers 3 and 6 of it where (38) prints 1 "
            "and 3.",
        ),
        _SOURCE,
        _TITLE,
        after_n_rounds("gap", VALUE, scale=q_bar, surrogate=True),
        at_rate(errors() + WINDOW),
        conditions=(CAP, BETA_AT_MOST_9_RHO, ONE_SERVER_STEP, WHOLE_PERIODS),
        assumptions=(*OF_CORRECTED.assumptions, *EQUAL),
        choices=CHOICE,
        changed=OWN,
        method="fedavg_async",
    ),
    order(
        Reading("as_printed", Belief.FALSE, remark=f"{LOST_K}; R is missing from the second term, and powers of rho."),
        _SOURCE,
        _TITLE,
        dist2_0 / sp.sqrt(K * N)
        + (K - 1) * Sigma / N
        + ratio * (R + Sigma) / sp.sqrt(K * N)
        + ratio**3 * K * M**2 * (R + Sigma) / N
        + (W - 1) / sp.sqrt(K * N),
    ),
)
