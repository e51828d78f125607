"""Synchronous SGD with bounded variance on a smooth and strongly (quasi-)convex function."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(BOTTOU, "SGD, strongly convex", "Section 4.2, a bound of its kind"),
    title="SGD with bounded variance on a strongly quasi-convex function",
    symbols=NOTATION,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric.last("dist2", LENGTH2, index=k, expectation="over the samples"),
    domain=(MU_AT_MOST_L,),
    trivial=dist2_0,
    best="as_printed",
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            bound=(1 - mu * eta) ** k * dist2_0 + eta * variance / mu,
            assumptions=(*STOCHASTIC, strong_quasi_convexity),
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
        ),
        "sharp": Reading(
            bound=(1 - mu * eta) ** (2 * k) * dist2_0
            + eta * variance * (1 - (1 - mu * eta) ** (2 * k)) / (mu * (2 - mu * eta)),
            title="SGD with bounded variance on a strongly convex function",
            symbols=OF_SAMPLES,
            assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
            conditions=(Condition("step size", eta <= 2 / (mu + L), SMALL_STEP),),
            replaces="(1 - mu eta)^k and the floor eta variance/mu",
            why="With strong convexity a step contracts by 1 - mu eta; x'x mu/2 with constant variance attains it.",
        ),
    },
)
