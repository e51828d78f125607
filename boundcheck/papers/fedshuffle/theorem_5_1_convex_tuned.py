"""Theorem 5.1, general convex: FedShuffle at the step size that the number of rounds prescribes."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.fedshuffle._shared import B_AT_LEAST_1, SERVER_AT_LEAST_1, E, Reading, eta_g
from boundcheck.papers.fedshuffle._theorem_5_1 import (
    AS_PRINTED,
    CONVEX_TERMS,
    CORRECTED,
    GENERAL,
    NOT_AT_THE_MINIMISER,
    RATE_GENERAL,
    SHARP,
    beta_of,
)
from boundcheck.theory.statement import Statement

BEST = "corrected"

_PRINTED = replace(
    AS_PRINTED, remark=f"{AS_PRINTED.remark} The printed order with the constant 1, at Lemma B.3's step."
)


def _reading(reading: Reading) -> Statement:
    beta, terms = beta_of(reading.name), CONVEX_TERMS[reading.name]
    printed = reading.name == "as_printed"
    return GENERAL.statement(
        reading,
        "FedShuffle at the tuned step size, general convex",
        RATE_GENERAL if printed else terms.tuned(beta),
        (SERVER_AT_LEAST_1, NOT_AT_THE_MINIMISER)
        if printed
        else (SERVER_AT_LEAST_1, B_AT_LEAST_1, NOT_AT_THE_MINIMISER),
        choices=(("eta_l", terms.tuned_step(beta) / (E * eta_g)),),
        printed_rate=RATE_GENERAL if printed else None,
    )


STATEMENTS = tuple(_reading(reading) for reading in (CORRECTED, SHARP, _PRINTED))
