"""Theorem 3: the largest dissimilarity B for which a given mu guarantees a decrease."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, L, gamma, mu, symbols_in
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement

BEST = "corrected"

_square = ((2 - gamma) * mu - L) / (2 * (L * ((1 + gamma) ** 2 + 1) + gamma * mu))
_FEASIBLE = Condition("B above 1", sp.Gt(_square, 1), "no device has B < 1", vacuity=True)

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Theorem 3", "the condition rho > 0, solved for B"),
        reading="corrected",
        title="Convex devices: B must be below this",
        symbols=symbols_in(_square),
        metric=Metric("none", ONE),
        bound=sp.sqrt(_square),
        kind=Kind.FORMULA,
        conditions=(_FEASIBLE,),
        belief=Belief.TRUE,
        replaces="the implicit condition rho > 0 by a bound of B",
        why="rho falls linearly in B^2. With exact solutions B^2 < mu/(2 L) - 1/4, which needs mu > 5 L/2 for B = 1.",
    ),
)
