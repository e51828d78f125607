"""Theorem 5.1, general convex: FedShuffle at any fixed step size within the condition."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    GENERAL,
    RATE_GENERAL,
    SHARP,
    fixed_conditions,
)

BEST = "corrected"

STATEMENTS = tuple(
    GENERAL.statement(
        reading,
        "FedShuffle at a fixed step size, general convex",
        CONVEX_TERMS[reading.name].fixed(),
        fixed_conditions(reading.name),
        printed_rate=RATE_GENERAL if reading.name == "as_printed" else None,
    )
    for reading in (CORRECTED, SHARP, AS_PRINTED)
)
