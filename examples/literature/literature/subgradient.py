"""The subgradient method on Lipschitz convex functions: the mean gap, attained by |x| where the last point is 0."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import bounded_gradients, convex_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import BOYD, LIPSCHITZ, NOTATION, dist2_0, eta, k

theorem = Theorem(
    source=Source(BOYD, "Equation (2)", "its proof; it bounds the mean gap, and with it the least (PEPit quotes that)"),
    title="The subgradient method with a constant step",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), LIPSCHITZ),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k, average="mean"),
    assumptions=(convex_clients, bounded_gradients),
    trivial=LIPSCHITZ.expr * sp.sqrt(dist2_0),
    belief=Belief.TRUE,
    bound=dist2_0 / (2 * eta * k) + eta * LIPSCHITZ.expr**2 / 2,
    readings={
        "as_printed": Reading(),
        "least": Reading(
            metric=Metric("gap", VALUE, index="k", rounds=k, average="least"),
            replaces="the mean gap by the least so far",
            why="The least of k values is at most their mean.",
        ),
        "last": Reading(
            metric=Metric("gap", VALUE, index="k", rounds=k),
            belief=Belief.FALSE,
            replaces="the mean gap by the gap of the last point",
            why="Folklore misprint: the last point may jump over the minimiser for ever.",
        ),
    },
)
