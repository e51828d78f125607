"""Extragradient contracts on a bilinear game, where gradient descent-ascent diverges.

G. M. Korpelevich, "The extragradient method for finding saddle points and other problems", 1976. One round is
z - eta F(z - eta F(z)) with F(z) = M (z - z*), M' = -M: a pair of coordinates of singular value s is multiplied by
(1 - eta^2 s^2)^2 + eta^2 s^2 in square, which is convex in s^2 and hence largest at an end. All clients have one map.
"""

import sympy as sp

from boundcheck.methods.round import Rule
from boundcheck.theory.assumptions import Assumption, iid_clients
from boundcheck.theory.dimension import CURVATURE, LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.theorem import Reading, Theorem


class Extragradient(Rule):
    """g is the map F of the game."""

    def step(self, y, g, at):
        return y - at.eta * g(y - at.eta * g(y))


methods = {"extragradient": Extragradient}
SYMBOLS = (
    common.L.but(key="objective/L", meaning="largest singular value of A"),
    Symbol("s", "least singular value of A that is not 0", CURVATURE, key="objective/s_min"),
    *(common.eta, common.dist2_0, common.k),
)
L, s, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)
factor = sp.Max(*((1 - eta**2 * v**2) ** 2 + eta**2 * v**2 for v in (s, L)))
theorem = Theorem(
    source=Source("The extragradient method (Korpelevich)", "linear convergence", "specialised to bilinear games"),
    title="Extragradient on a bilinear game", symbols=SYMBOLS, algorithm=Algorithm("extragradient", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k), domain=(sp.Le(s, L),), trivial=dist2_0,
    assumptions=(Assumption("instance:bilinear_game", "The map is that of a bilinear game."), iid_clients),
    conditions=(Condition("step size", eta * L < 1),),
    readings={"as_printed": Reading(factor**k * dist2_0, belief=Belief.TRUE)},
)  # fmt: skip
