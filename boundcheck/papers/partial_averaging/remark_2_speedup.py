"""Remark 2: from how many iterations on the first term of the rate dominates."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._remarks import threshold
from boundcheck.papers.partial_averaging._shared import Reading, m
from boundcheck.theory.statement import Belief

BEST = "as_printed"

STATEMENTS = (
    threshold(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="1/sqrt(mK) > m/K exactly when K > m^3, constants left out as in the remark; m = 128 needs 2097152.",
        ),
        "Remark 2",
        m**3,
    ),
)
