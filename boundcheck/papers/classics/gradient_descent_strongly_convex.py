"""Gradient descent on a smooth and strongly (quasi-)convex function."""

from __future__ import annotations

from dataclasses import replace

from boundcheck.papers.classics._shared import (
    L_SAMPLES,
    MU_AT_MOST_L,
    MU_SAMPLES,
    SMOOTH_DESCENT,
    STEPS,
    TEXTBOOK,
    L,
    at_most,
    dist2_0,
    eta,
    k,
    mu,
)
from boundcheck.theory.assumptions import plain_mean, smooth_samples, strong_quasi_convexity, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "as_printed"

_printed = Statement(
    source=Source(
        TEXTBOOK, "gradient descent, strongly convex", "B. Polyak, Introduction to Optimization, Section 1.4"
    ),
    reading="as_printed",
    title="Gradient descent on a smooth, strongly quasi-convex function",
    symbols=(common.mu, common.L, common.eta, common.dist2_0, STEPS),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    bound=(1 - mu * eta) ** k * dist2_0,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    domain=(MU_AT_MOST_L,),
    conditions=(at_most(1 / L),),
    assumptions=(*SMOOTH_DESCENT, strong_quasi_convexity),
    trivial=dist2_0,
    belief=Belief.TRUE,
    remark="<grad F, x - x*> >= gap + mu dist2/2 and |grad F|^2 <= 2 L gap give it.",
)

STATEMENTS = (
    _printed,
    replace(
        _printed,
        reading="sharp",
        title="Gradient descent on a smooth, strongly convex function",
        symbols=(MU_SAMPLES, L_SAMPLES, common.eta, common.dist2_0, STEPS),
        bound=(1 - mu * eta) ** (2 * k) * dist2_0,
        conditions=(at_most(2 / (mu + L)),),
        assumptions=(plain_mean, smooth_samples, strongly_convex_samples),
        replaces="(1 - mu eta)^k and eta <= 1/L",
        why="With strong convexity a step is a contraction by max(1 - mu eta, L eta - 1); x'x mu/2 attains it.",
        remark="",
    ),
)
