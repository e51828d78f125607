"""Section 5: M of importance sampling, clients drawn independently with probabilities b*w_i."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

LEAST = positive("w_min", "the smallest weight of a client", high=Fraction(1), key="clients/w_min")
COHORT = positive("b", "expected number of clients in a round", key="participation/b")
w_min, b = LEAST.expr, COHORT.expr

theorem = Theorem(
    source=Source(PAPER, "Section 5", "the paragraph after Theorem 5.1, importance sampling"),
    title="M of importance sampling",
    symbols=(LEAST, COHORT),
    metric=Metric.constant("participation/M", ONE, "the participation"),
    kind=Kind.EQUALITY,
    domain=(b * w_min <= 1,),
    assumptions=(
        Assumption(
            "importance_participation", "Clients take part independently of each other, client i with b w_i <= 1."
        ),
    ),
    readings={
        "corrected": Reading(
            bound=1 / b - w_min,
            belief=Belief.TRUE,
            replaces="(1 - min w)/b by 1/b - min w",
            why="Independent clients have s_i = 1 - p_i, so that s_i w_i/p_i = (1 - b w_i)/b.",
        ),
        "as_printed": Reading(
            bound=(1 - w_min) / b,
            belief=Belief.FALSE,
            remark="Right for b = 1; too large for b > 1, so that bounds stay true.",
        ),
    },
)
