"""Heavy ball with its best parameters for quadratics: without a constant, with the tight one, beyond quadratics."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import instance, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import LESSARD, MOMENTUM, MU_AT_MOST_L, NOTATION, OF_SAMPLES, POLYAK, L, dist2_0, k, mu

SMOOTH = (strongly_convex_samples, smooth_samples)
root = (sp.sqrt(L) - sp.sqrt(mu)) / (sp.sqrt(L) + sp.sqrt(mu))
tight = (1 + k * (1 + root)) ** 2 * root ** (2 * k) * dist2_0

theorem = Theorem(
    source=Source(POLYAK, "Theorem 9", "a folklore misprint: the theorem has a constant, or any larger rate"),
    title="Heavy ball with the best parameters of quadratics",
    symbols=(*NOTATION, *OF_SAMPLES, MOMENTUM),
    algorithm=Algorithm("heavy_ball", ("eta", "beta")),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    domain=(MU_AT_MOST_L,),
    assumptions=(instance("quadratics"), *SMOOTH),
    choices=(("eta", 4 / (sp.sqrt(L) + sp.sqrt(mu)) ** 2), ("beta", root**2)),
    trivial=dist2_0,
    readings={
        "as_printed": Reading(root ** (2 * k) * dist2_0, belief=Belief.FALSE),
        "corrected": Reading(
            tight,
            belief=Belief.TRUE,
            replaces="the constant 1 by (1 + k (1 + root))^2",
            why="The matrix of a step is no normal matrix: at the curvature L it has one double eigenvalue.",
        ),
        "beyond": Reading(
            tight,
            belief=Belief.FALSE,
            source=Source(LESSARD, "Section 4.6", "where the counterexample stands"),
            assumptions=SMOOTH,
            replaces="quadratics by smooth strongly convex functions",
            why="Folklore: on a function of two curvatures the method may cycle.",
        ),
    },
)
