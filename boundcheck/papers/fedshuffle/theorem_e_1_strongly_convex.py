"""Theorem E.1, strongly convex: FedShuffleGen at any fixed step size within the conditions."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._shared import L, R, beta_gen_printed, et_gen, mu
from boundcheck.papers.fedshuffle._theorem_5_1 import STRONG
from boundcheck.papers.fedshuffle._theorem_e_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    PRINTED_END,
    RATE_STRONG,
    SHARP,
    conditions,
    statement,
)
from boundcheck.theory.statement import Condition

BEST = "corrected"

_printed = mu * PRINTED_END.d0 * sp.exp(-et_gen * mu * R / 2) + PRINTED_END.c1 * et_gen + PRINTED_END.c2 * et_gen**2
_rounds = Condition("rounds", sp.Ge(R, 4 * beta_gen_printed * L / mu))
_from_below = Condition("step size from below", sp.Ge(et_gen, 1 / (mu * R)), "the end of the proof, before the tuning")

STATEMENTS = (
    *(
        statement(
            STRONG,
            reading,
            CONVEX_TERMS[reading.name].fixed_strongly_convex(et_gen),
            conditions(reading.name),
        )
        for reading in (CORRECTED, SHARP)
    ),
    statement(STRONG, AS_PRINTED, _printed, (*conditions("as_printed"), _rounds, _from_below), RATE_STRONG),
)
