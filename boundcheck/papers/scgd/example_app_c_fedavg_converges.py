"""Appendix C: when FedAvg converges on the example."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.scgd._appendix_c import AS_MEANT, ETA, FEDAVG, REPLACES, WHY
from boundcheck.papers.scgd._shared import PAPER, K
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Appendix C", "convergence of FedAvg, decided on the exact factor of one round"),
        reading="corrected",
        title="FedAvg converges exactly when its factor is between -1 and 1",
        symbols=(ETA, common.E, common.K),
        metric=Metric("x", None, index="K", rounds=K),
        bound=sp.S.Zero,
        kind=Kind.LIMIT,
        algorithm=Algorithm("fedavg", ("E", "eta")),
        conditions=(
            Condition("factor below 1", sp.Lt(FEDAVG, 1)),
            Condition("factor above -1", sp.Gt(FEDAVG, -1)),
        ),
        assumptions=AS_MEANT,
        belief=Belief.TRUE,
        replaces=REPLACES,
        why=WHY,
    ),
)
