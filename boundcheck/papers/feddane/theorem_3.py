"""Theorem 3: the decrease of one iteration, convex devices."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import (
    CONVEX,
    FACTOR_2,
    JENSEN,
    METHOD,
    PAPER,
    REPLACED,
    SPREAD,
    WITH_REPLACEMENT,
    Reading,
    after,
    decrease,
    gap_0,
    guarantees,
    one_iteration,
    rho_3,
    symbols_in,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"


def _statement(reading: Reading, rho: Any, *also: Assumption) -> Statement:
    condition = guarantees(rho)
    return Statement(
        source=Source(PAPER, "Theorem 3", "Section IV-A; proof in Appendix V-D"),
        reading=reading.name,
        title="Sufficient decrease of an iteration of FedDANE, convex devices",
        symbols=symbols_in(after(rho), condition),
        metric=one_iteration(),
        bound=after(rho),
        algorithm=METHOD,
        conditions=(condition,),
        assumptions=(*CONVEX, *also),
        trivial=gap_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The proof writes w^t for the solution of one device; averaging the quadratic upper model of f over "
            "S'_t repairs it for every S'_t, so that S'_t need not be independent of S_t. rho does not depend on K.",
        ),
        rho_3,
    ),
    _statement(
        Reading(
            "sharp_any_cohort",
            Belief.TRUE,
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by B^2 |grad f|^2",
            why=FACTOR_2 + "; Jensen's inequality bounds it for every unbiased plain mean.",
        ),
        decrease(JENSEN, sp.S.Zero),
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=FACTOR_2 + "; and " + WITH_REPLACEMENT + ", so that more devices help.",
        ),
        decrease(REPLACED, sp.S.Zero),
        *SPREAD,
    ),
)
