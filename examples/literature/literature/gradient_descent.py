"""Gradient descent on smooth convex functions: the tight bound, attained by Huber functions."""

from __future__ import annotations

from boundcheck.theory.assumptions import convexity, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import DRORI, NOTATION, L, dist2_0, eta, k

k_positive = next(symbol for symbol in NOTATION if symbol.name == "k").but(low=1)

theorem = Theorem(
    source=Source(DRORI, "Theorem 3.1", "as PEPit quotes it (gradient_descent.py)"),
    title="Gradient descent on a smooth convex function",
    symbols=NOTATION,
    algorithm=Algorithm("gradient_descent", ("eta",)),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    assumptions=(convexity, smooth_clients),
    conditions=(Condition("step size", eta * L <= 1),),
    trivial=L * dist2_0 / 2,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(L * dist2_0 / (4 * k * eta * L + 2)),
        "smaller": Reading(
            L * dist2_0 / (4 * k + 4),
            belief=Belief.FALSE,
            choices=(("eta", 1 / L),),
            symbols=(k_positive,),
            replaces="+ 2 by + 4 in the denominator, for the step 1/L and k >= 1",
            why="Planted: the Huber function attains the printed bound, and quadratics stay below this one.",
        ),
    },
)
