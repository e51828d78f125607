"""Theorem 6: the decrease of each of its iterations, which is that of Theorem 5 with one B for all points."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.feddane._shared import (
    ABOVE_CURVATURE,
    EVERYWHERE,
    FACTOR_2,
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
    rho_5,
    symbols_in,
)
from boundcheck.theory.assumptions import (
    Assumption,
    bounded_dissimilarity,
    inexact_solves,
    lower_curvature,
    smooth_clients,
    unbiased_gradient_cohort,
)
from boundcheck.theory.statement import Belief, Source, Statement

BEST = "as_printed"

_ASSUMPTIONS = (smooth_clients, lower_curvature, bounded_dissimilarity, inexact_solves, unbiased_gradient_cohort)


def _statement(reading: Reading, rho: Any, *also: Assumption) -> Statement:
    conditions = (ABOVE_CURVATURE, guarantees(rho))
    return Statement(
        source=Source(PAPER, "Theorem 6", "Section IV-B, 'let the assumption of Theorem 5 hold at each iteration'"),
        reading=reading.name,
        title="Sufficient decrease of an iteration of FedDANE from any point",
        symbols=symbols_in(after(rho), *conditions, B2=EVERYWHERE),
        metric=one_iteration(),
        bound=after(rho),
        algorithm=METHOD,
        conditions=conditions,
        assumptions=(*_ASSUMPTIONS, *also),
        trivial=gap_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "as_printed", Belief.TRUE, remark="A B for all points forces all grad F_k to vanish wherever grad f does."
        ),
        rho_5,
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
