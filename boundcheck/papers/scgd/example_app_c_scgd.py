"""Appendix C: the iterates of SCGD."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.scgd._appendix_c import (
    AS_MEANT,
    AS_PRINTED,
    ETA,
    PRINTED_SETTING,
    PRINTED_SYMBOLS,
    REPLACES,
    SCGD,
    WHY,
    X0,
)
from boundcheck.papers.scgd._shared import PAPER, K
from boundcheck.theory.statement import Algorithm, Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Appendix C", "the iterates of SCGD"),
        reading="corrected",
        title="x_K of SCGD on the example with concave components",
        symbols=(ETA, common.E, X0, common.K),
        metric=Metric("x", None, index="K", rounds=3 * K),
        bound=SCGD**K * X0.expr,
        kind=Kind.EQUALITY,
        algorithm=Algorithm("scgd", ("E", "eta")),
        assumptions=AS_MEANT,
        belief=Belief.TRUE,
        replaces=REPLACES,
        why=WHY,
    ),
    Statement(
        source=Source(
            PAPER, "Appendix C", "the number printed after one cycle, with f_3 = 3x^3, eta = 1/10, E = 2, x_0 = 1"
        ),
        reading="as_printed",
        title="SCGD after one cycle, as printed",
        symbols=PRINTED_SYMBOLS,
        metric=Metric("x", None, rounds=sp.Integer(3)),
        bound=sp.Rational(331776, 10**6),
        kind=Kind.EQUALITY,
        algorithm=Algorithm("scgd", ("E", "eta")),
        conditions=PRINTED_SETTING,
        assumptions=AS_PRINTED,
        belief=Belief.FALSE,
        remark="False for the printed f_3; true for f_3 = 3x^2.",
    ),
)
