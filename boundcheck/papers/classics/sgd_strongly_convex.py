"""Synchronous SGD with bounded variance on a smooth and strongly (quasi-)convex function."""

from __future__ import annotations

from boundcheck.papers.classics.definitions import (
    BOTTOU,
    MU_AT_MOST_L,
    NOTATION,
    OF_SAMPLES,
    SMALL_STEP,
    STOCHASTIC,
    L,
    dist2_0,
    eta,
    k,
    mu,
    variance,
)
from boundcheck.theory.assumptions import (
    averages_as_objective,
    block_variance,
    smooth_samples,
    strong_quasi_convexity,
    strongly_convex_samples,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(BOTTOU, "SGD, strongly convex", "Section 4.2, a bound of its kind"),
    title="SGD with bounded variance on a strongly quasi-convex function",
    symbols=NOTATION,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    domain=(MU_AT_MOST_L,),
    trivial=dist2_0,
    best="as_printed",
    readings={
        "as_printed": Reading(
            (1 - mu * eta) ** k * dist2_0 + eta * variance / mu,
            assumptions=(*STOCHASTIC, strong_quasi_convexity),
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
            belief=Belief.TRUE,
        ),
        "sharp": Reading(
            (1 - mu * eta) ** (2 * k) * dist2_0
            + eta * variance * (1 - (1 - mu * eta) ** (2 * k)) / (mu * (2 - mu * eta)),
            title="SGD with bounded variance on a strongly convex function",
            symbols=OF_SAMPLES,
            assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
            conditions=(Condition("step size", eta <= 2 / (mu + L), SMALL_STEP),),
            belief=Belief.TRUE,
            replaces="(1 - mu eta)^k and the floor eta variance/mu",
            why="With strong convexity a step contracts by 1 - mu eta; x'x mu/2 with constant variance attains it.",
        ),
    },
)
