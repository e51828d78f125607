"""Lemma 3.1: one cycle of SCGD."""

from __future__ import annotations

from boundcheck.papers.scgd._shared import (
    ASSUMPTIONS,
    MU_AT_MOST_L,
    PAPER,
    READINGS,
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
        source=Source(PAPER, "Lemma 3.1", "Section 3.1, step condition (1) with C of equation (2)"),
        reading=reading.name,
        title="One cycle of SCGD",
        symbols=(common.mu, common.L, common.n, common.E, common.eta, common.sigma2, common.dist2_0),
        metric=Metric("dist2", LENGTH2, rounds=n),
        bound=(1 - mu * s / 3) * dist2_0 + 4 * L**2 * s**3 / mu * sigma2,
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
