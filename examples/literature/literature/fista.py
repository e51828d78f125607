"""Nesterov's accelerated gradient in the form of FISTA on smooth convex functions."""

from __future__ import annotations

from boundcheck.theory.assumptions import convexity, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import BECK, NOTATION, L, dist2_0, k

theorem = Theorem(
    source=Source(BECK, "Theorem 4.4", "as PEPit quotes it (accelerated_gradient_convex.py), with t_k >= (k + 1)/2"),
    title="FISTA without a proximal term on a smooth convex function",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION),),
    algorithm=Algorithm("fista", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    assumptions=(convexity, smooth_clients),
    choices=(("eta", 1 / L),),
    trivial=L * dist2_0 / 2,
    belief=Belief.TRUE,
    readings={"as_printed": Reading(2 * L * dist2_0 / (k + 1) ** 2)},
)
