"""Theorem 5.1, strongly convex: FedShuffle at the step size that the number of rounds prescribes."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.fedshuffle._shared import (
    B_AT_LEAST_1,
    LOST_L,
    SERVER_AT_LEAST_1,
    E,
    L,
    R,
    Reading,
    eta_g,
    mu,
)
from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    NOT_AT_THE_MINIMISER,
    RATE_STRONG,
    ROUNDS_PRINTED,
    SHARP,
    STRONG,
    beta_of,
    printed_step_strongly_convex,
)
from boundcheck.theory.statement import Condition, Statement

BEST = "corrected"

_TITLE = "FedShuffle at the tuned step size, strongly convex"
_WHY = {"corrected": f"{LOST_L}.", "sharp": SHARP.why}
_STEP = (
    " The step is 2*ell/(mu R), where ell is at least 1/2, at most mu R/(8 beta L), and has both error terms in its "
    "logarithm: the printed log(.)/(mu R) leaves exp(-et mu R/2) of the order 1/sqrt(R), looks at c1 alone, and may "
    "be 0. From ell = mu R/(8 beta L) on the step is 1/(4 beta L), so that the cap changes no step, lowers the bound "
    "and covers c1 = c2 = 0."
)


def _derived(reading: Reading) -> Statement:
    beta, terms = beta_of(reading.name), CONVEX_TERMS[reading.name]
    rounds = Condition("rounds", sp.Ge(R, 4 * beta * L / mu), "so that a step of 1/(mu R) is allowed")
    return STRONG.statement(
        replace(reading, why=_WHY[reading.name] + _STEP),
        _TITLE,
        terms.tuned_strongly_convex(beta),
        (rounds, SERVER_AT_LEAST_1, B_AT_LEAST_1, NOT_AT_THE_MINIMISER),
        choices=(("eta_l", terms.tuned_step_strongly_convex(beta) / (E * eta_g)),),
    )


STATEMENTS = (
    _derived(CORRECTED),
    _derived(SHARP),
    STRONG.statement(
        replace(AS_PRINTED, remark=f"{AS_PRINTED.remark} The printed order with the constant 1, at the printed step."),
        _TITLE,
        RATE_STRONG,
        (ROUNDS_PRINTED, SERVER_AT_LEAST_1, NOT_AT_THE_MINIMISER),
        choices=(("eta_l", printed_step_strongly_convex() / (E * eta_g)),),
        printed_rate=RATE_STRONG,
    ),
)
