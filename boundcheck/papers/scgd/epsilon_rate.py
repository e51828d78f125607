"""The order of dist2 under the "optimal setting" of the paragraph on the epsilon-complexity."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.scgd._horizon import (
    HORIZON,
    NOISE,
    STEP_CONDITION,
    WHOLE_CYCLES,
    T,
    contraction,
    local_steps_at_least,
)
from boundcheck.papers.scgd._shared import ASSUMPTIONS, MU_AT_MOST_L, PAPER, dist2_0, n
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

_corrected = Statement(
    source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, first display"),
    reading="corrected",
    title="dist2 after T rounds of the horizon-dependent step",
    symbols=(common.mu, common.L, common.n, common.E, common.ell, common.sigma2, common.dist2_0, HORIZON),
    metric=Metric("dist2", LENGTH2, rounds=T),
    bound=contraction(2) * dist2_0 + NOISE,
    algorithm=Algorithm("scgd", ("E", "ell", "T")),
    domain=(MU_AT_MOST_L,),
    conditions=(STEP_CONDITION, WHOLE_CYCLES, local_steps_at_least(6)),
    assumptions=ASSUMPTIONS,
    trivial=dist2_0,
    belief=Belief.TRUE,
    replaces="the rule E >= 4/(mu*ell) by E >= 6/(mu*ell)",
    why="Only then is the contraction of Theorem 3.3 of the order of the noise term.",
    printed_rate=n**2 * sp.log(T) ** 2 / T**2,
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        bound=contraction(sp.Rational(4, 3)) * dist2_0 + NOISE,
        conditions=(STEP_CONDITION, WHOLE_CYCLES, local_steps_at_least(4)),
        belief=Belief.OPEN,
        replaces="",
        why="",
        remark="The explicit form that Theorem 3.3 gives for the printed rule, which is true; that it is of the "
        "printed order does not follow, since its first term is of the order T^(-4/3).",
    ),
)
