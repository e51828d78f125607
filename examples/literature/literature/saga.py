"""SAGA on a mean of smooth strongly convex functions."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import plain_mean, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import DEFAZIO, MU_AT_MOST_L, NOTATION, OF_SAMPLES, L, dist2_0, gap_0, k, mu, n

both = mu * n + L

theorem = Theorem(
    source=Source(DEFAZIO, "Corollary 1", "page 8, without h; read in a formalisation of it (prove2.me)"),
    title="SAGA with the step 1/(2(mu n + L)); the functions f_i are clients of one sample each",
    symbols=(*NOTATION, *OF_SAMPLES),
    algorithm=Algorithm("saga", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the functions that are drawn"),
    domain=(MU_AT_MOST_L, sp.Gt(mu, 0)),
    assumptions=(plain_mean, strongly_convex_samples, smooth_samples),
    choices=(("eta", 1 / (2 * both)),),
    bound=(1 - mu / (2 * both)) ** k * (dist2_0 + n * gap_0 / both),
    trivial=dist2_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading()},
)
