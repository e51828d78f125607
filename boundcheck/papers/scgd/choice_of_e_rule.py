"""The rule for E below "Choice of E"."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.papers.scgd._horizon import ell
from boundcheck.papers.scgd._shared import PAPER, mu
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

_corrected = Statement(
    source=Source(PAPER, "Choice of E", "Section 3.2, the rule for the number of local steps"),
    reading="corrected",
    title="The number of local steps that makes the contraction T^(-2)",
    symbols=(common.mu, common.ell),
    metric=Metric("none", ONE),
    bound=sp.ceiling(6 / (mu * ell)),
    kind=Kind.FORMULA,
    belief=Belief.TRUE,
    replaces="the rule E = ceil(4/(mu*ell))",
    why="With the factor 1/3 of Theorem 3.3 the printed rule gives T^(-4/3) only.",
)

STATEMENTS = (
    _corrected,
    replace(
        _corrected,
        reading="as_printed",
        bound=sp.ceiling(4 / (mu * ell)),
        belief=Belief.FALSE,
        replaces="",
        why="",
        remark="The order T^(-2) claimed for it does not follow from Theorem 3.3.",
    ),
)
