"""Gradient descent on a smooth function that is bounded below."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(NESTEROV, "gradient descent, non-convex", "Section 1.2.3"),
    title="Mean squared gradient norm of gradient descent",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric.mean("grad2", GRADIENT2, index=k),
    assumptions=(*SMOOTH, bounded_below),
    trivial=2 * L * gap_0,
    printed_rate=1 / k,
    best="sharp",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=2 * gap_0 / (eta * k),
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
        ),
        "sharp": Reading(
            bound=gap_0 / (eta * (1 - eta * L / 2) * k),
            conditions=(Condition("step size", eta < 2 / L, SMALL_STEP),),
            replaces="2 gap_0/(eta k) and eta <= 1/L",
            why="The descent lemma gives a decrease by eta (1 - eta L/2) |grad F|^2, of which eta/2 is the least.",
        ),
    },
)
