"""The paragraph "Choice of E": a step size that depends on the number of rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from boundcheck.papers.scgd._horizon import HORIZON, NOISE, STEP_CONDITION, WHOLE_CYCLES, T, contraction, ell
from boundcheck.papers.scgd._shared import ASSUMPTIONS, MU_AT_MOST_L, PAPER, E, dist2_0, mu
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol, common

BEST = "corrected"

_norm2_0 = Symbol("norm2_0", "squared norm of the start", LENGTH2, low=Fraction(0), latex=r"\|\theta_0\|^2")
_factor = contraction(mu * ell * E / 3)

_corrected = Statement(
    source=Source(PAPER, "Choice of E", "Section 3.2, the display with T^(-mu*ell*E/3)"),
    reading="corrected",
    title="SCGD with the step size ell*log(T)/T",
    symbols=(common.mu, common.L, common.n, common.E, common.ell, common.sigma2, common.dist2_0, HORIZON),
    metric=Metric("dist2", LENGTH2, rounds=T),
    bound=_factor * dist2_0 + NOISE,
    algorithm=Algorithm("scgd", ("E", "ell", "T")),
    domain=(MU_AT_MOST_L,),
    conditions=(STEP_CONDITION, WHOLE_CYCLES),
    assumptions=ASSUMPTIONS,
    trivial=dist2_0,
    belief=Belief.TRUE,
    replaces="the squared norm of the start by its squared distance to the solution set, and cycle K+1 by K",
    why="Theorem 3.3 starts from the distance and gives cycle K = T/n.",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        symbols=(*(s for s in _corrected.symbols if s.name != "dist2_0"), _norm2_0),
        bound=_factor * _norm2_0.expr + NOISE,
        trivial=None,
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="A start at the origin would make the first term vanish wherever the minimiser is. The printed left "
        "side, the squared distance of cycle K+1 to a minimiser, is read as dist2 after T rounds.",
    ),
)
