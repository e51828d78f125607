"""The proximal point method on convex functions: FedProx with one client and exact solutions."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import convexity, inexact_solves
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import GAMMA, NOTATION, PROX, TAYLOR_2017, dist2_0, k, n

rho, gamma = PROX.expr, GAMMA.expr

theorem = Theorem(
    source=Source(TAYLOR_2017, "Theorem 4.1", "as PEPit quotes it (proximal_point.py)"),
    title="The proximal point method with step 1/rho on a convex function",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), PROX, GAMMA),
    algorithm=Algorithm("fedprox", ("rho",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    assumptions=(convexity, inexact_solves),
    conditions=(Condition("one client", sp.Le(n, 1)), Condition("exact solutions", sp.Le(gamma, 0))),
    belief=Belief.TRUE,
    readings={"as_printed": Reading(rho * dist2_0 / (4 * k))},
)
