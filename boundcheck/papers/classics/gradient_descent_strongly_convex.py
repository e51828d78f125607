"""Gradient descent on a smooth and strongly (quasi-)convex function."""

from __future__ import annotations

from boundcheck.papers.classics.definitions import (
    MU_AT_MOST_L,
    NOTATION,
    OF_SAMPLES,
    POLYAK,
    SMALL_STEP,
    SMOOTH,
    L,
    dist2_0,
    eta,
    k,
    mu,
)
from boundcheck.theory.assumptions import smooth_samples, strong_quasi_convexity, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(
    source=Source(POLYAK, "gradient descent, strongly convex", "Section 1.4"),
    title="Gradient descent on a smooth, strongly quasi-convex function",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    trivial=dist2_0,
    best="as_printed",
    readings={
        "as_printed": Reading(
            (1 - mu * eta) ** k * dist2_0,
            assumptions=(*SMOOTH, strong_quasi_convexity),
            conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
            belief=Belief.TRUE,
            remark="<grad F, x - x*> >= gap + mu dist2/2 and |grad F|^2 <= 2 L gap give it.",
        ),
        "sharp": Reading(
            (1 - mu * eta) ** (2 * k) * dist2_0,
            title="Gradient descent on a smooth, strongly convex function",
            symbols=OF_SAMPLES,
            assumptions=(smooth_samples, strongly_convex_samples),
            conditions=(Condition("step size", eta <= 2 / (mu + L), SMALL_STEP),),
            belief=Belief.TRUE,
            replaces="(1 - mu eta)^k and eta <= 1/L",
            why="With strong convexity a step is a contraction by max(1 - mu eta, L eta - 1); x'x mu/2 attains it.",
        ),
    },
)
