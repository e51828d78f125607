"""Theorem 3: the inexactness that some mu can make up for."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.papers.feddane.theorem_3 import rho
from boundcheck.theory.declare import *

IN_THE_LIMIT = sp.expand(mu * rho).subs(L, 0)  # of rho mu as mu grows: all else is divided by mu, and has the factor L

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for gamma at the best mu"),
    title="Convex devices: gamma must be below this, whatever mu is",
    symbols=NOTATION,
    metric=Metric.formula(ONE, zero_in(IN_THE_LIMIT, gamma)),
    kind=Kind.EQUALITY,
    bound=2 / (2 * B2 + 1),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            replaces="gamma in [0, 1) by gamma < 2/(2 B^2 + 1)",
            why="rho mu tends to 1 - gamma (B^2 + 1/2) as mu grows, and is below that for every mu. The range is [0, "
            "2/3) for B = 1 and shrinks like 1/B^2.",
        )
    },
)
