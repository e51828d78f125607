"""Section 4.2: expected weights of the clients when a cohort's weights are normalised to sum to 1."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "as_printed_client_1"

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "Section 4.2", "three clients with 1, 2 and 3 samples, two of them drawn uniformly"),
        reading=f"as_printed_client_{client}",
        title=f"Expected weight of client {client} under Sum-One aggregation",
        symbols=(),
        metric=Metric("none", ONE),
        bound=weight,
        kind=Kind.FORMULA,
        belief=Belief.TRUE,
        remark=f"The client's weight in the objective is {client}/6.",
    )
    for client, weight in enumerate((sp.Rational(7, 36), sp.Rational(16, 45), sp.Rational(9, 20)), start=1)
)
