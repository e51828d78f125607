"""Theorem 3.3: SCGD with a constant step size, after K cycles (T = nK rounds)."""

from __future__ import annotations

from boundcheck.papers.scgd._shared import (
    ASSUMPTIONS,
    MU_AT_MOST_L,
    PAPER,
    READINGS,
    K,
    L,
    dist2_0,
    mu,
    n,
    s,
    sigma2,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Theorem 3.3", "Section 3.2, step condition (3) with C of equation (2)"),
        reading=reading.name,
        title="SCGD with a constant step size",
        symbols=(
            common.mu,
            common.L,
            common.n,
            common.E,
            common.eta,
            common.sigma2,
            common.dist2_0,
            common.K,
        ),
        metric=Metric(
            "dist2",
            LENGTH2,
            index="K",
            rounds=n * K,
            expectation="none: the method is deterministic, so the printed E is over the start at most",
        ),
        bound=(1 - mu * s / 3) ** K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2,
        algorithm=Algorithm("scgd", ("E", "eta")),
        domain=(MU_AT_MOST_L,),
        conditions=(reading.condition(s),),
        assumptions=ASSUMPTIONS,
        trivial=dist2_0,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in READINGS
)
