"""Appendix C: when SCGD converges on the example."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

factor = concave**2 * convex  # of one cycle

theorem = Theorem(
    source=Source(PAPER, "Appendix C", "convergence of SCGD, decided on the exact factor of one cycle"),
    title="SCGD converges exactly when its factor is between -1 and 1",
    symbols=EXAMPLE,
    algorithm=Algorithm("scgd", ("E", "eta")),
    metric=Metric.last("x", None, index=K, rounds=3 * K),
    kind=Kind.LIMIT,
    assumptions=AS_MEANT,
    conditions=(Condition("factor below 1", factor < 1), Condition("factor above -1", factor > -1)),
    bound=sp.S.Zero,
    readings={"corrected": Reading(belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT)},
)
