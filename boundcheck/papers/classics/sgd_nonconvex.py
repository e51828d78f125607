"""Synchronous SGD with bounded variance on a smooth function that is bounded below."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(GHADIMI, "Theorem 2.1", "with a constant step size, a bound of its kind"),
    title="Mean squared gradient norm of SGD with bounded variance",
    symbols=NOTATION,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric.mean("grad2", GRADIENT2, index=k, expectation="over the samples"),
    assumptions=(*STOCHASTIC, bounded_below),
    trivial=2 * L * gap_0,
    printed_rate=1 / sp.sqrt(k),
    best="sharp",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=2 * gap_0 / (eta * k) + eta * L * variance,
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
        ),
        "sharp": Reading(
            bound=(2 * gap_0 / (eta * k) + eta * L * variance) / (2 - eta * L),
            conditions=(Condition("step size", eta < 2 / L, SMALL_STEP),),
            replaces="the factor 1 by 1/(2 - eta L), which is at most 1 for eta <= 1/L",
            why="The descent lemma gives E F+ <= F - eta (1 - eta L/2) |grad F|^2 + eta^2 L variance/2.",
        ),
    },
)
