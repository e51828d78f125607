"""Appendix C: the iterates of FedAvg."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.scgd._appendix_c import (
    AS_MEANT,
    AS_PRINTED,
    ETA,
    FEDAVG,
    PRINTED_SETTING,
    PRINTED_SYMBOLS,
    REPLACES,
    WHY,
    X0,
)
from boundcheck.papers.scgd._shared import PAPER, K
from boundcheck.theory.statement import Algorithm, Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "corrected"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Appendix C", "the iterates of FedAvg"),
        reading="corrected",
        title="x_K of FedAvg on the example with concave components",
        symbols=(ETA, common.E, X0, common.K),
        metric=Metric("x", None, index="K", rounds=K),
        bound=FEDAVG**K * X0.expr,
        kind=Kind.EQUALITY,
        algorithm=Algorithm("fedavg", ("E", "eta")),
        assumptions=AS_MEANT,
        belief=Belief.TRUE,
        replaces=REPLACES,
        why=WHY,
    ),
    Statement(
        source=Source(
            PAPER, "Appendix C", "the number printed after one round, with f_3 = 3x^3, eta = 1/10, E = 2, x_0 = 1"
        ),
        reading="as_printed",
        title="FedAvg after one round, as printed",
        symbols=PRINTED_SYMBOLS,
        metric=Metric("x", None, rounds=sp.Integer(1)),
        bound=sp.Rational(76, 75),
        kind=Kind.EQUALITY,
        algorithm=Algorithm("fedavg", ("E", "eta")),
        conditions=PRINTED_SETTING,
        assumptions=AS_PRINTED,
        belief=Belief.FALSE,
        remark="False for the printed f_3; true for f_3 = 3x^2.",
    ),
)
