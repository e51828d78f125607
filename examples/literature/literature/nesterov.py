"""Nesterov's accelerated gradient with constant momentum on smooth strongly convex functions."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import ASPREMONT, MOMENTUM, MU_AT_MOST_L, NOTATION, OF_SAMPLES, L, dist2_0, gap_0, k, mu

theorem = Theorem(
    source=Source(ASPREMONT, "Corollary 4.15", "as PEPit quotes it (accelerated_gradient_strongly_convex.py)"),
    title="Nesterov's method with constant momentum on a smooth strongly convex function",
    symbols=(*NOTATION, *OF_SAMPLES, MOMENTUM),
    algorithm=Algorithm("nesterov", ("eta", "beta")),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples),
    choices=(("eta", 1 / L), ("beta", (sp.sqrt(L) - sp.sqrt(mu)) / (sp.sqrt(L) + sp.sqrt(mu)))),
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading((1 - sp.sqrt(mu / L)) ** k * (gap_0 + mu * dist2_0 / 2)),
        "without_mu": Reading(
            (1 - sp.sqrt(mu / L)) ** k * gap_0,
            belief=Belief.FALSE,
            replaces="gap_0 + mu dist2_0/2 by gap_0",
            why="Folklore misprint: the potential has both terms, and the gap alone contracts more slowly at first.",
        ),
    },
)
