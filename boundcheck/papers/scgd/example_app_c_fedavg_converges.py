"""Appendix C: when FedAvg converges on the example."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

factor = (2 * concave + convex) / 3  # of one round

theorem = Theorem(
    source=Source(PAPER, "Appendix C", "convergence of FedAvg, decided on the exact factor of one round"),
    title="FedAvg converges exactly when its factor is between -1 and 1",
    symbols=EXAMPLE,
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric.last("x", None, index=K),
    kind=Kind.LIMIT,
    assumptions=AS_MEANT,
    conditions=(Condition("factor below 1", factor < 1), Condition("factor above -1", factor > -1)),
    bound=sp.S.Zero,
    readings={"corrected": Reading(belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT)},
)
