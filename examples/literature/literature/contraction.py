"""Gradient descent on smooth strongly convex functions: the tight contraction, attained by quadratics."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NOTATION, OF_SAMPLES, TAYLOR_2018, L, dist2_0, eta, k, mu

theorem = Theorem(
    source=Source(TAYLOR_2018, "Theorem 2.1", "rate as PEPit states it (gradient_descent_contraction.py)"),
    title="Gradient descent on a smooth strongly convex function",
    symbols=(*NOTATION, *OF_SAMPLES),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples),
    conditions=(Condition("step size", eta * L <= 2),),
    trivial=dist2_0,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(sp.Max((1 - L * eta) ** 2, (1 - mu * eta) ** 2) ** k * dist2_0),
        "flat_direction": Reading(
            (1 - mu * eta) ** (2 * k) * dist2_0,
            belief=Belief.FALSE,
            replaces="the maximum by its second term",
            why="Planted: steps above 2/(L + mu) overshoot in the steep direction.",
        ),
    },
)
