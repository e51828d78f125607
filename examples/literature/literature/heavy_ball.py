"""Polyak's heavy ball on smooth strongly convex functions, quadratics among them."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import GHADIMI, MOMENTUM, MU_AT_MOST_L, NOTATION, OF_SAMPLES, L, eta, gap_0, k, mu

theorem = Theorem(
    source=Source(GHADIMI, "Theorem 4", "as PEPit quotes it (heavy_ball_momentum.py)"),
    title="Heavy ball on a smooth strongly convex function",
    symbols=(*NOTATION, *OF_SAMPLES, MOMENTUM),
    algorithm=Algorithm("heavy_ball", ("eta", "beta")),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples),
    conditions=(Condition("step size", eta * L <= 1),),
    choices=(("beta", sp.sqrt((1 - eta * mu) * (1 - eta * L))),),
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading((1 - eta * mu) ** k * gap_0)},
)
