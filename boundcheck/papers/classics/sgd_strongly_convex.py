"""Synchronous SGD with bounded variance on a smooth and strongly (quasi-)convex function."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.classics._shared import (
    L_SAMPLES,
    MU_AT_MOST_L,
    MU_SAMPLES,
    NOISE,
    SHARES,
    STEPS,
    STOCHASTIC,
    TEXTBOOK,
    L,
    at_most,
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
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "as_printed"

_printed = Statement(
    source=Source(TEXTBOOK, "SGD, strongly convex", "L. Bottou, F. Curtis, J. Nocedal, Section 4.2, in its kind"),
    reading="as_printed",
    title="SGD with bounded variance on a strongly quasi-convex function",
    symbols=(common.mu, common.L, common.eta, NOISE, SHARES, common.dist2_0, STEPS),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    bound=(1 - mu * eta) ** k * dist2_0 + eta * variance / mu,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    domain=(MU_AT_MOST_L,),
    conditions=(at_most(1 / L),),
    assumptions=(*STOCHASTIC, strong_quasi_convexity),
    trivial=dist2_0,
    belief=Belief.TRUE,
)

STATEMENTS = (
    _printed,
    replace(
        _printed,
        reading="sharp",
        title="SGD with bounded variance on a strongly convex function",
        symbols=(MU_SAMPLES, L_SAMPLES, common.eta, NOISE, SHARES, common.dist2_0, STEPS),
        bound=(1 - mu * eta) ** (2 * k) * dist2_0
        + eta * variance * (1 - (1 - mu * eta) ** (2 * k)) / (mu * (2 - mu * eta)),
        conditions=(at_most(2 / (mu + L)),),
        assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
        replaces="(1 - mu eta)^k and the floor eta variance/mu",
        why="With strong convexity a step contracts by 1 - mu eta; x'x mu/2 with constant variance attains it.",
    ),
)
