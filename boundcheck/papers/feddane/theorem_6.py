"""Theorem 6: the mean squared gradient norm over T iterations."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import (
    ABOVE_CURVATURE,
    DEVICES,
    EVERYWHERE,
    FACTOR_2,
    METHOD,
    PAPER,
    REPLACED,
    SPREAD,
    WITH_REPLACEMENT,
    Reading,
    T,
    decrease,
    gap_0,
    grad2_0,
    guarantees,
    rho_5,
    symbols_in,
)
from boundcheck.theory.assumptions import (
    Assumption,
    bounded_below,
    bounded_dissimilarity,
    inexact_solves,
    lower_curvature,
    smooth_clients,
    unbiased_gradient_cohort,
)
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Metric, Source, Statement

BEST = "corrected"

_ASSUMPTIONS = (
    smooth_clients,
    lower_curvature,
    bounded_dissimilarity,
    bounded_below,
    inexact_solves,
    unbiased_gradient_cohort,
)
_FROM_0 = Metric("grad2", GRADIENT2, index="T", rounds=T, weights=sp.S.One, expectation=DEVICES)
# (T + 1)/T times the mean over t = 0, ..., T is the mean over t = 1, ..., T plus grad2_0/T
_FROM_1 = Metric("grad2", GRADIENT2, index="T", rounds=T + 1, scale=(T + 1) / T, weights=sp.S.One, expectation=DEVICES)


def _statement(reading: Reading, metric: Metric, rho: Any, bound: Any, *also: Assumption) -> Statement:
    conditions = (ABOVE_CURVATURE, guarantees(rho))
    return Statement(
        source=Source(PAPER, "Theorem 6", "Section IV-B"),
        reading=reading.name,
        title="Mean squared gradient norm of T iterations of FedDANE",
        symbols=symbols_in(bound, *conditions, also=("T",), B2=EVERYWHERE),
        metric=metric,
        bound=bound,
        algorithm=METHOD,
        conditions=conditions,
        assumptions=(*_ASSUMPTIONS, *also),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=1 / T,
    )


_LIMITS = (
    "B bounds the dissimilarity at every point that the run can reach; a B for all points forces all grad F_k to "
    "vanish wherever grad f does."
)

STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="O(.) by its constant, and the indices t = 1, ..., T by t = 0, ..., T - 1",
            why="Summing the decrease of the iterations 1, ..., T telescopes over the points w^0, ..., w^{T-1}, and f "
            "is at least f*, which must be finite.",
            remark=_LIMITS,
        ),
        _FROM_0,
        rho_5,
        gap_0 / (rho_5 * T),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The mean over t = 1, ..., T, with 1 as the constant of O(.): both sides carry grad2_0/T more than "
            "printed, since the mean over t = 0, ..., T is compared. The decrease is needed at w^T too. " + _LIMITS,
        ),
        _FROM_1,
        rho_5,
        gap_0 / (rho_5 * T) + grad2_0 / T,
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="Theorem 5's rho by its sharp reading",
            why=FACTOR_2 + "; and " + WITH_REPLACEMENT + ".",
            remark=_LIMITS,
        ),
        _FROM_0,
        decrease(REPLACED),
        gap_0 / (decrease(REPLACED) * T),
        *SPREAD,
    ),
)
