"""Theorem 3.4: SCGD with the step size eta0/K in cycle K."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from boundcheck.papers.scgd._shared import ASSUMPTIONS, MU_AT_MOST_L, PAPER, E, K, L, mu, n, sigma2
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

_s0 = n * E * common.eta0.expr  # total step of the first cycle
_a = mu * _s0 / 3
_b_printed = 4 * L**2 * _s0**3 / mu
_index = common.K.but(low=Fraction(1), meaning="cycle index, from 1; cycle K is about to start")

_corrected = Statement(
    source=Source(PAPER, "Theorem 3.4", "Section 3.3, with the a and b of its proof put into Lemma 3.2"),
    reading="corrected",
    title="SCGD with a diminishing step size",
    symbols=(common.mu, common.L, common.n, common.E, common.eta0, common.sigma2, _index),
    metric=Metric("dist2", LENGTH2, index="K", rounds=n * (K - 1), scale=K**2),
    bound=_b_printed * sigma2 / (_a - 2),
    kind=Kind.LIMSUP,
    algorithm=Algorithm("scgd", ("E", "eta0"), steps=(("eta", common.eta0.expr / (sp.floor(ROUND / n) + 1)),)),
    domain=(MU_AT_MOST_L,),
    conditions=(Condition("first step", sp.Gt(_a, 2), "Chung's lemma needs a > 2"),),
    assumptions=ASSUMPTIONS,
    belief=Belief.TRUE,
    replaces="the b of the printed proof, which lacks the mean of sigma_i^2",
    why="Lemma 3.1's noise term carries it; without it the two sides do not scale alike.",
    remark="The paper claims a finite limit superior; the value is the one that its own proof gives.",
    printed_rate=1 / K**2,
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        symbols=tuple(s for s in _corrected.symbols if s.name != "sigma2"),
        bound=_b_printed / (_a - 2),
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="The claimed finiteness is true; the b that its proof prints is not.",
    ),
)
