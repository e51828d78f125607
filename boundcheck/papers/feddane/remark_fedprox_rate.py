"""The remark below Theorem 6: 'recover the results in FedProx'."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem 6", "Section IV-B, the remark below it"),
    title="Order of the decrease of an iteration with exact solutions, said to be FedProx's",
    symbols=NOTATION,
    metric=Metric.formula(STEP),
    kind=Kind.FORMULA,
    bound=3 / (25 * L * B2),
    printed_rate=1 / (L * B2),
    belief=Belief.OPEN,
    readings={
        "as_printed": Reading(
            remark="Corollary 4's decrease. That it has FedProx's order 1/(L B^2) concerns the order alone; FedProx's "
            "constants, and the cohort size that its theorem asks for, stand in another paper, which is not part of "
            "this project: whether they are recovered is not decided here."
        )
    },
)
