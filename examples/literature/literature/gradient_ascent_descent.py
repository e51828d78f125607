"""Simultaneous gradient descent in the first coordinate and ascent in the others: games need not contract."""

from __future__ import annotations

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import smooth_clients
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MESCHEDER, NOTATION, L, eta, k


class DescentAscent(Rule):
    """x <- x - eta (g_0, -g_1, -g_2, ...), g the gradient at x."""

    def combine(self, total, at):
        down = total["x"]  # minus the gradient, times the step size
        return {"x": at.server["x"] + 2 * at.part(down, (0,)) - down}


GRAD2 = Symbol("grad2_0", "squared gradient norm of F at the start", GRADIENT2, low=0, key="start/grad2")

theorem = Theorem(
    source=Source(MESCHEDER, "Section 3", "a step along v has eigenvalues of modulus above 1 on bilinear games"),
    title="Gradient descent ascent on smooth games",
    symbols=(*NOTATION, GRAD2),
    algorithm=Algorithm("descent_ascent", ("eta",)),
    metric=Metric("grad2", GRADIENT2, index="k", rounds=k),
    assumptions=(smooth_clients,),
    conditions=(Condition("step size", eta * L <= 1),),
    readings={
        "as_printed": Reading((1 + eta * L) ** (2 * k) * GRAD2.expr, belief=Belief.TRUE),
        "contracts": Reading(
            GRAD2.expr,
            belief=Belief.FALSE,
            replaces="1 + eta L by 1",
            why="Folklore: on F = x y each step multiplies the distance by sqrt(1 + eta^2), however small the step is.",
        ),
    },
)
