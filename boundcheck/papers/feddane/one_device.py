"""The proof of Theorem 7: the quadratic upper model of f at the point that one device returns.

The constants are those of the device, 1/mu_k, gamma_k and L_k; g is the mean gradient with which its subproblem is
made. Averaged over S'_t it gives the decrease of an iteration.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.feddane._shared import PAPER, L_f, symbols_in
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, ONE, STEP, VALUE, Dimension
from boundcheck.theory.statement import Belief, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"


def _nonnegative(name: str, meaning: str, dimension: Dimension) -> Symbol:
    return Symbol(name, meaning, dimension, low=Fraction(0))


_DECLARED = (
    Symbol("inv", "1/mu_k", STEP, low=Fraction(0), low_open=True),
    _nonnegative("gam", "gamma_k", ONE),
    _nonnegative("lip", "L_k", CURVATURE),
    _nonnegative("grad2", "squared gradient norm of f at w^{t-1}", GRADIENT2),
    Symbol("product", "expected inner product of g with the gradient of f", GRADIENT2),
    _nonnegative("square", "E|g|^2", GRADIENT2),
    _nonnegative("factor", "bound of E|g|^2 over the squared gradient norm of f", ONE),
)
inv, gam, lip, grad2, product, square, factor = (s.expr for s in _DECLARED)


def contribution(smoothness: Any) -> Any:
    """What the device contributes to rho, with the smoothness in the descent step."""
    spread = (lip * inv**2 + gam * inv) * (1 + factor) / 2
    return inv - spread - smoothness * (1 + gam) ** 2 * inv**2 * factor / 2


_CONDITIONS = (
    Condition("unbiased", sp.Ge(product, grad2), "E g = grad f"),
    Condition("second moment", sp.Le(square, factor * grad2)),
)
_BOUND = -contribution(L_f) * grad2

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Theorem 7", "Appendix V-F, (21) to (28), for one device"),
        reading="corrected",
        title="The upper model of f at the point of one device",
        symbols=(*symbols_in(L_f), *_DECLARED),
        metric=Metric("upper_model", VALUE, expectation="S_t and the local solver"),
        bound=_BOUND,
        conditions=_CONDITIONS,
        assumptions=(
            Assumption("convex_device", "F_k is convex."),
            Assumption("smooth_device", "F_k is L_k-smooth."),
            Assumption("inexact_device", "The device's solution is gamma_k-inexact (Definition 1)."),
        ),
        belief=Belief.TRUE,
        replaces="L_k in the descent step by the smoothness L_f of f",
        why="The descent step (21) is about f, of which L_k is no smoothness constant.",
    ),
)
