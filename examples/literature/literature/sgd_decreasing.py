"""SGD with the decreasing step beta/(gamma + k) on smooth strongly convex functions."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import (
    averages_as_objective,
    block_variance,
    smooth_samples,
    strongly_convex_samples,
)
from boundcheck.theory.dimension import ONE, STEP, VALUE
from boundcheck.theory.statement import ROUND, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import BOTTOU, NOISE, NOTATION, OF_SAMPLES, L, gap_0, k, mu

BETA = Symbol("beta", "numerator of the step", STEP, low=0, low_open=True, free=True)
SHIFT = Symbol("gamma", "shift of the step", ONE, low=0, low_open=True, free=True)
P2 = Symbol("sum_p2", "sum of the squared weights of the workers", ONE, low=0, low_open=True, key="clients/sum_p2")
beta, gamma, M = BETA.expr, SHIFT.expr, NOISE.expr * P2.expr

theorem = Theorem(
    source=Source(BOTTOU, "Theorem 4.7", "equations (4.20) to (4.22), with mu = M_G = 1 and k counted from 1"),
    title="SGD with a step that decreases as 1/k",
    symbols=(*NOTATION, *OF_SAMPLES, NOISE, P2, BETA, SHIFT),
    algorithm=Algorithm("sync_sgd", steps=(("eta", beta / (gamma + 1 + ROUND)),)),
    metric=Metric("gap", VALUE, index="k", rounds=k, expectation="over the samples"),
    assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
    conditions=(Condition("numerator", beta * mu > 1), Condition("first step", beta * L <= gamma + 1)),
    bound=sp.Max(beta**2 * L * M / (2 * (beta * mu - 1)), (gamma + 1) * gap_0) / (gamma + 1 + k),
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading()},
)
