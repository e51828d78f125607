"""Theorem 5.1, non-convex: FedShuffle at the step size that the number of rounds prescribes."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.fedshuffle._shared import B_AT_LEAST_1, SERVER_AT_LEAST_1, E, Reading, eta_g
from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    NONCONVEX_CORRECTED,
    NONCONVEX_SHARP,
    NONCONVEX_TERMS,
    NOT_MINIMAL,
    RATE_WITHOUT,
    WITHOUT,
    beta_of,
)
from boundcheck.theory.statement import Statement

BEST = "corrected"

_PRINTED = replace(
    AS_PRINTED, remark=f"{AS_PRINTED.remark} The printed order with the constant 1, at Lemma B.3's step."
)


def _reading(reading: Reading) -> Statement:
    beta, terms = beta_of(reading.name), NONCONVEX_TERMS[reading.name]
    printed = reading.name == "as_printed"
    return WITHOUT.statement(
        reading,
        "FedShuffle at the tuned step size, non-convex",
        RATE_WITHOUT if printed else terms.tuned(beta),
        (SERVER_AT_LEAST_1, NOT_MINIMAL) if printed else (SERVER_AT_LEAST_1, B_AT_LEAST_1, NOT_MINIMAL),
        choices=(("eta_l", terms.tuned_step(beta) / (E * eta_g)),),
        printed_rate=RATE_WITHOUT if printed else None,
    )


STATEMENTS = tuple(_reading(reading) for reading in (NONCONVEX_CORRECTED, NONCONVEX_SHARP, _PRINTED))
