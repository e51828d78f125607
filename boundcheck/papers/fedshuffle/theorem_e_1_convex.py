"""Theorem E.1, general convex: FedShuffleGen at any fixed step size within the conditions."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._shared import et_gen
from boundcheck.papers.fedshuffle._theorem_5_1 import GENERAL
from boundcheck.papers.fedshuffle._theorem_e_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    RATE_GENERAL,
    SHARP,
    conditions,
    statement,
)

BEST = "corrected"

STATEMENTS = tuple(
    statement(
        GENERAL,
        reading,
        CONVEX_TERMS[reading.name].fixed(et_gen),
        conditions(reading.name),
        RATE_GENERAL if reading.name == "as_printed" else None,
    )
    for reading in (CORRECTED, SHARP, AS_PRINTED)
)
