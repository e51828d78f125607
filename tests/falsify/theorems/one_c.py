"""Gradient descent on convex functions contracts by sqrt(1 - eta L) a step: false."""

import sympy as sp

from boundcheck.theory import assumptions
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (common.L, common.k, common.eta, common.dist2_0)
L, k, eta, d0 = (s.expr for s in SYMBOLS)
theorem = Theorem(
    source=Source("x", "y", "z"),
    title="t",
    symbols=SYMBOLS,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    assumptions=(assumptions.smooth_clients, assumptions.convex_clients),
    conditions=(Condition("step", eta * L <= 1),),
    readings={
        "as_printed": Reading(sp.sqrt(1 - eta * L) ** k * d0),
        "no_farther": Reading(d0, replaces="the factor by 1", why="a step of 2/L at most never leads away"),
    },
)
