"""Gradient descent on a smooth convex function."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(NESTEROV, "gradient descent, convex", "Section 2.1.5, a bound of its kind"),
    title="Gradient descent on a smooth convex function",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric.last("gap", VALUE, index=k),
    assumptions=(*SMOOTH, convexity),
    conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
    trivial=L * dist2_0 / 2,
    printed_rate=1 / k,
    best="sharp",
    readings={
        "as_printed": Reading(bound=dist2_0 / (2 * eta * k), belief=Belief.TRUE),
        "sharp": Reading(
            bound=dist2_0 / (4 * eta * k + 2 / L),
            source=Source(DRORI, "Theorem 3.1", "with the step size h/L, h at most 1"),
            belief=Belief.TRUE,
            replaces="dist2_0/(2 eta k)",
            why="This is the exact worst case over all smooth convex functions; the Huber function attains it.",
        ),
    },
)
