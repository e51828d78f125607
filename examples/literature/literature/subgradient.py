"""The subgradient method on Lipschitz convex functions: the mean gap, attained by |x| where the last point is 0."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import bounded_gradients, convex_clients
from boundcheck.theory.dimension import LENGTH, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import BOYD, NOTATION, dist2_0, eta, k

B = Symbol("B", "Lipschitz constant of F", VALUE / LENGTH, low=0, key="clients/gradient_bound")

theorem = Theorem(
    source=Source(BOYD, "Equation (2)", "its proof; it bounds the mean gap, and with it the least (PEPit quotes that)"),
    title="The subgradient method with a constant step",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), B),
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k, average="mean"),
    assumptions=(convex_clients, bounded_gradients),
    trivial=B.expr * sp.sqrt(dist2_0),
    belief=Belief.TRUE,
    readings={"as_printed": Reading(dist2_0 / (2 * eta * k) + eta * B.expr**2 / 2)},
)
