"""Theorem 5.1, strongly convex: FedShuffle at any fixed step size within the condition."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._rates import Terms
from boundcheck.papers.fedshuffle._shared import R, Reading, et, mu
from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    PRINTED_END,
    RATE_STRONG,
    ROUNDS_PRINTED,
    SHARP,
    STRONG,
    fixed_conditions,
)
from boundcheck.theory.statement import Condition, Statement

BEST = "corrected"

_TITLE = "FedShuffle at a fixed step size, strongly convex"
# "mu exp(-et mu R/2) d + et c1 + et^2 c2" for 1/(mu R) <= et
_printed = mu * PRINTED_END.d0 * sp.exp(-et * mu * R / 2) + PRINTED_END.c1 * et + PRINTED_END.c2 * et**2
_from_below = Condition("step size from below", sp.Ge(et, 1 / (mu * R)), "the end of Appendix C, before the tuning")


def _derived(reading: Reading, terms: Terms) -> Statement:
    return STRONG.statement(reading, _TITLE, terms.fixed_strongly_convex(), fixed_conditions(reading.name))


STATEMENTS = (
    _derived(CORRECTED, CONVEX_TERMS["corrected"]),
    _derived(SHARP, CONVEX_TERMS["sharp"]),
    STRONG.statement(
        AS_PRINTED,
        _TITLE,
        _printed,
        (*fixed_conditions("as_printed"), ROUNDS_PRINTED, _from_below),
        printed_rate=RATE_STRONG,
    ),
)
