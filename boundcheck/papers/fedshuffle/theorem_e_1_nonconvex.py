"""Theorem E.1, non-convex: FedShuffleGen at any fixed step size within the conditions."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._shared import et_gen
from boundcheck.papers.fedshuffle._theorem_5_1 import WITHOUT
from boundcheck.papers.fedshuffle._theorem_e_1 import (
    AS_PRINTED,
    CORRECTED,
    NONCONVEX_TERMS,
    RATE_WITHOUT,
    SHARP,
    conditions,
    statement,
)

BEST = "corrected"

STATEMENTS = tuple(
    statement(
        WITHOUT,
        reading,
        NONCONVEX_TERMS[reading.name].fixed(et_gen),
        conditions(reading.name),
        RATE_WITHOUT if reading.name == "as_printed" else None,
    )
    for reading in (CORRECTED, SHARP, AS_PRINTED)
)
