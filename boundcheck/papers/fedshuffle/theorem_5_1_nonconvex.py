"""Theorem 5.1, non-convex: FedShuffle at any fixed step size within the condition."""

from __future__ import annotations

from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    NONCONVEX_CORRECTED,
    NONCONVEX_SHARP,
    NONCONVEX_TERMS,
    RATE_WITHOUT,
    WITHOUT,
    fixed_conditions,
)

BEST = "corrected"

STATEMENTS = tuple(
    WITHOUT.statement(
        reading,
        "FedShuffle at a fixed step size, non-convex",
        NONCONVEX_TERMS[reading.name].fixed(),
        fixed_conditions(reading.name),
        printed_rate=RATE_WITHOUT if reading.name == "as_printed" else None,
    )
    for reading in (NONCONVEX_CORRECTED, NONCONVEX_SHARP, AS_PRINTED)
)
