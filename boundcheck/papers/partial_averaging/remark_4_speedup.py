"""Remark 4: from how many iterations on the first term of the rate dominates."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Remark 4", "linear speed-up: 'the first term dominates'"),
    title="Iterations beyond which 1/sqrt(mK) exceeds m/K",
    symbols=NOTATION,
    metric=Metric.formula(ONE),
    kind=Kind.FORMULA,
    readings={
        "corrected": Reading(
            bound=m**3,
            belief=Belief.TRUE,
            replaces="K^3 > m by K > m^3",
            why="1/sqrt(mK) > m/K exactly when K > m^3, as Remark 2 says of the same rate.",
        ),
        "as_printed": Reading(
            bound=sp.cbrt(m),
            belief=Belief.FALSE,
            remark="Printed as K^3 > m. For m = 128 and K = 6 that holds, but m/K = 21.3 and 1/sqrt(mK) = 0.036.",
        ),
    },
)
