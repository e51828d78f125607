"""SGD with steps that fall as 1/k: true with 1/mu, false with 1/L in front."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import averages_as_objective, block_variance, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NEMIROVSKI, NOISE, NOTATION, OF_SAMPLES, L, dist2_0, k, mu

SHIFT = Symbol("s", "shift of the step, at least 1", ONE, low=1, free=True)
P2 = Symbol("sum_p2", "sum of the squared weights of the workers", ONE, low=0, low_open=True, key="clients/sum_p2")
s, noise = SHIFT.expr, NOISE.expr * P2.expr
start = sp.Max(dist2_0, noise / mu**2)

theorem = Theorem(
    source=Source(NEMIROVSKI, "Equation (2.10)", "Section 2.1, sharpened, for theta = 1/mu and bounded variance"),
    title="SGD with the step 1/(mu (k + s))",
    symbols=(*NOTATION, *OF_SAMPLES, NOISE, P2, SHIFT),
    algorithm=Algorithm("sync_sgd", steps=(("eta", 1 / (mu * (ROUND + s))),)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    domain=(MU_AT_MOST_L,),
    assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
    conditions=(Condition("first step", sp.Ge(2 * mu * s, L + mu)), Condition("rounds", k >= 1)),
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(((s - 1) ** 2 * dist2_0 + k * noise / mu**2) / (k + s - 1) ** 2),
        "wrong_constant": Reading(
            start / (k + 1),
            belief=Belief.FALSE,
            algorithm=Algorithm("sync_sgd", steps=(("eta", 1 / (L * (ROUND + 1))),)),
            conditions=(),
            replaces="the step 1/(mu (k + s)) by 1/(L (k + 1))",
            why="Folklore misprint: with theta below 1/(2 mu) the distance falls as k^(-2 mu theta) only.",
        ),
    },
)
