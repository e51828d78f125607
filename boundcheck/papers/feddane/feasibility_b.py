"""Theorem 3: the largest dissimilarity B for which a given mu guarantees a decrease."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.papers.feddane.theorem_3 import rho
from boundcheck.theory.declare import *

B2_bound = ((2 - gamma) * mu - L) / (2 * (L * ((1 + gamma) ** 2 + 1) + gamma * mu))

theorem = Theorem(
    source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for B"),
    title="Convex devices: B must be below this",
    symbols=NOTATION,
    metric=Metric.formula(ONE, sp.sqrt(zero_in(rho, B2))),
    kind=Kind.EQUALITY,
    bound=sp.sqrt(B2_bound),
    conditions=(Condition("B above 1", B2_bound > 1, "no device has B < 1", vacuity=True),),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            replaces="the implicit condition rho > 0 by a bound of B",
            why="rho falls linearly in B^2. With exact solutions B^2 < mu/(2 L) - 1/4, which needs mu > 5 L/2 for B = "
            "1.",
        )
    },
)
