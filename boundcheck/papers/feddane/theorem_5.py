"""Theorem 5: the decrease of one iteration, devices that need not be convex."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.feddane._shared import (
    ABOVE_CURVATURE,
    FACTOR_2,
    JENSEN,
    METHOD,
    NONCONVEX,
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
    rho_5,
    symbols_in,
)
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"


def _statement(reading: Reading, rho: Any, *also: Assumption) -> Statement:
    conditions = (ABOVE_CURVATURE, guarantees(rho))
    return Statement(
        source=Source(PAPER, "Theorem 5", "Section IV-B; proof in Appendix V-E"),
        reading=reading.name,
        title="Sufficient decrease of an iteration of FedDANE, non-convex devices",
        symbols=symbols_in(after(rho), *conditions),
        metric=one_iteration(),
        bound=after(rho),
        algorithm=METHOD,
        conditions=conditions,
        assumptions=(*NONCONVEX, *also),
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
            remark="'Non-convex' is 'possibly non-convex', and lam*I + Hessian need only be positive semidefinite. The "
            "proof treats one device; averaging the quadratic upper model of f over S'_t covers any number, without "
            "convexity of f.",
        ),
        rho_5,
    ),
    _statement(
        Reading(
            "sharp_any_cohort",
            Belief.TRUE,
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by B^2 |grad f|^2",
            why=FACTOR_2 + "; Jensen's inequality bounds it for every unbiased plain mean.",
        ),
        decrease(JENSEN),
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=FACTOR_2 + "; and " + WITH_REPLACEMENT + ".",
        ),
        decrease(REPLACED),
        *SPREAD,
    ),
)
