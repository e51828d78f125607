"""The remark below Theorem 6: 'recover the results in FedProx'."""

from __future__ import annotations

from boundcheck.papers.feddane._shared import B2, PAPER, L, symbols_in
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "as_printed"

_order = 1 / (L * B2)

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Theorem 6", "Section IV-B, the remark below it"),
        reading="as_printed",
        title="Order of the decrease of an iteration with exact solutions, said to be FedProx's",
        symbols=symbols_in(_order),
        metric=Metric("none", STEP),
        bound=3 * _order / 25,
        kind=Kind.FORMULA,
        belief=Belief.OPEN,
        remark="Corollary 4's decrease. That it has FedProx's order 1/(L B^2) concerns the order alone; FedProx's "
        "constants, and the cohort size that its theorem asks for, stand in another paper, which is not part of this "
        "project: whether they are recovered is not decided here.",
        printed_rate=_order,
    ),
)
