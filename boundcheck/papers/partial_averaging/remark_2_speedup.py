"""Remark 2: from how many iterations on the first term of the rate dominates."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Remark 2", "linear speed-up: 'the first term dominates'"),
    title="Iterations beyond which 1/sqrt(mK) exceeds m/K",
    symbols=NOTATION,
    metric=Metric.formula(ONE),
    kind=Kind.FORMULA,
    bound=m**3,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            remark="1/sqrt(mK) > m/K exactly when K > m^3, constants left out as in the remark; m = 128 needs 2097152."
        )
    },
)
