"""(33): synchronous FedAvg at step sizes in proportion to 1/sqrt(KN)."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._rates import (
    CAP,
    CHOICE,
    EQUAL,
    ONE_SERVER_STEP,
    OWN,
    SYNCHRONOUS,
    M,
    after_n_rounds,
    at_rate,
    order,
    synchronous_errors,
)
from boundcheck.papers.async_fl._shared import CORRECTED, K, N, R, Reading, Sigma, dist2_0, told
from boundcheck.theory.assumptions import same_expected_weights
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("(33)", "Section 4.2")
_TITLE = "Rate of synchronous FedAvg"

STATEMENTS = (
    told(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the terms under O(.) by the corrected Theorem 1 with all its constants",
            why="An order cannot be compared with a run. (K-1)^2/(KN) is at most (K-1)/N, so that it is the printed "
            "one.",
        ),
        _SOURCE,
        _TITLE,
        after_n_rounds("gap", VALUE),
        at_rate(synchronous_errors().subs(R, 0)),
        conditions=(CAP, ONE_SERVER_STEP, *SYNCHRONOUS),
        assumptions=(*CORRECTED, same_expected_weights, *EQUAL),
        choices=CHOICE,
        changed=OWN,
        method="fedavg_sync",
    ),
    order(
        Reading(
            "as_printed", Belief.TRUE, remark="An order in K, N and M, up to factors with L and the unit of the step."
        ),
        _SOURCE,
        _TITLE,
        dist2_0 / sp.sqrt(K * N) + (K - 1) * Sigma / N + Sigma / (M * sp.sqrt(K * N)),
    ),
)
