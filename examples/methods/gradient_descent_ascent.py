"""Gradient descent-ascent on a bilinear game spirals away from the saddle point, whatever its step size.

Well known, by two lines: one round is z - eta F(z) with F(z) = M (z - z*) and M' = -M, so that the cross term vanishes;
M'M = s^2 I where A is square and all its singular values are s. The squared distance grows by 1 + eta^2 s^2.
"""

import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import CURVATURE, LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.theorem import Reading, Theorem


class GradientDescentAscent(Rule):
    """A step down in x and up in y at once; g is the map F of the game."""

    def step(self, y, g, at):
        return y - at.eta * g(y)


methods = {"gradient_descent_ascent": GradientDescentAscent}
SYMBOLS = (
    common.L.but(key="objective/L", meaning="largest singular value of A"),
    Symbol("s", "least singular value of A", CURVATURE, key="objective/s_min"), common.eta, common.dist2_0, common.k,
)  # fmt: skip
L, s, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)
theorem = Theorem(
    source=Source("well known", "gradient descent-ascent", "on a bilinear game with square A"),
    title="Gradient descent-ascent on a bilinear game", symbols=SYMBOLS,
    algorithm=Algorithm("gradient_descent_ascent", ("eta",)), metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    assumptions=(Assumption("instance:bilinear_game", "The map is that of a bilinear game with square A."),),
    conditions=(Condition("equal singular values", sp.Eq(s, L)),),
    kind=Kind.EQUALITY, readings={"as_printed": Reading((1 + eta**2 * s**2) ** k * dist2_0, belief=Belief.TRUE)},
)  # fmt: skip
