"""Remark 4: from how many iterations on the first term of the rate dominates."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.partial_averaging._remarks import threshold
from boundcheck.papers.partial_averaging._shared import Reading, m
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    threshold(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="K^3 > m by K > m^3",
            why="1/sqrt(mK) > m/K exactly when K > m^3, as Remark 2 says of the same rate.",
        ),
        "Remark 4",
        m**3,
    ),
    threshold(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Printed as K^3 > m. For m = 128 and K = 6 that holds, but m/K = 21.3 and 1/sqrt(mK) = 0.036.",
        ),
        "Remark 4",
        sp.cbrt(m),
    ),
)
