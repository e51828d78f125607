"""Corollary 4: the decrease with exact local solutions and mu = 5 L B^2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import (
    B2,
    CONVEX,
    FACTOR_2,
    METHOD,
    PAPER,
    L,
    Reading,
    after,
    gamma,
    gap_0,
    one_iteration,
    symbols_in,
)
from boundcheck.theory.statement import Belief, Condition, Source, Statement

BEST = "corrected"

_CHOICE = 5 * L * B2
_EXACT = Condition("exact solutions", sp.Eq(gamma, 0), "gamma = 0")
_printed = 3 / (25 * L * B2)
_corrected = _printed - 1 / (50 * L * B2**2)  # rho_3 at gamma = 0 and mu = 5 L B^2
_sharp = 4 / (25 * L * B2) - 1 / (50 * L * B2**2)  # 1/mu - L (2 B^2 + 1)/(2 mu^2) there


def _statement(reading: Reading, rho: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Corollary 4", "Section IV-A"),
        reading=reading.name,
        title="Decrease of an iteration of FedDANE with exact local solutions and mu = 5 L B^2",
        symbols=symbols_in(after(rho), _EXACT, also=("mu",)),
        metric=one_iteration(),
        bound=after(rho),
        algorithm=METHOD,
        conditions=(_EXACT,),
        assumptions=CONVEX,
        trivial=gap_0,
        choices=(("mu", _CHOICE),),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="rho = 3/(25 L B^2) approximately by the exact value of Theorem 3's rho",
            why="At mu = 5 L B^2 Theorem 3 gives 3/(25 L B^2) - 1/(50 L B^4), a factor 1 - 1/(6 B^2) less: 1/(10 L), "
            "not 3/(25 L), at B = 1. The best choice is mu = L (4 B^2 + 1), 4 per cent better for large B.",
        ),
        _corrected,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="Both 'approximately' read as 'equal', for every B. Theorem 3 does not give it (see the corrected "
            "reading), but without the factor 2 of (10) it is true, since the sharp rho is larger for every B >= 1.",
        ),
        _printed,
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="rho = 3/(25 L B^2) by 4/(25 L B^2) - 1/(50 L B^4)",
            why=FACTOR_2 + "; Jensen's inequality bounds it by B^2 |grad f|^2.",
        ),
        _sharp,
    ),
)
