"""Synchronous SGD with bounded variance on a smooth convex function."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(NEMIROVSKI, "SGD, convex", "Section 2, a bound of its kind"),
    title="Mean gap of SGD with bounded variance",
    symbols=NOTATION,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric.mean("gap", VALUE, index=k, expectation="over the samples"),
    assumptions=(*STOCHASTIC, convexity),
    trivial=L * dist2_0 / 2,
    printed_rate=1 / sp.sqrt(k),
    best="sharp",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=dist2_0 / (eta * k) + eta * variance,
            conditions=(Condition("step size", eta <= 1 / (2 * L), SMALL_STEP),),
        ),
        "sharp": Reading(
            bound=(dist2_0 / (eta * k) + eta * variance) / (2 * (1 - eta * L)),
            conditions=(Condition("step size", eta < 1 / L, SMALL_STEP),),
            replaces="the factor 1 by 1/(2 (1 - eta L)), which is at most 1 for eta <= 1/(2 L)",
            why="E|x+ - x*|^2 <= |x - x*|^2 - 2 eta (1 - eta L) gap + eta^2 variance, since |grad F|^2 <= 2 L gap.",
        ),
    },
)
