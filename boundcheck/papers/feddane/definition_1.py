"""Definition 1: how inexact a local solution is, and what a solver can know of it."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.feddane._shared import ABOVE_CURVATURE, PAPER, SYMBOLS, lam, mu
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_SOURCE = Source(PAPER, "Definition 1", "Section IV")
_TITLE = "The gamma with which a local solution is gamma-inexact"
_ERROR = Symbol("error2", "squared distance of the local solution to the exact one", LENGTH2, low=Fraction(0))
_STEP = Symbol("step2", "squared distance of the exact solution to w^{t-1}", LENGTH2, low=Fraction(0), low_open=True)
_RESIDUAL = Symbol(
    "residual2", "squared gradient norm of the subproblem at the local solution", GRADIENT2, low=Fraction(0)
)
_MOVED = Symbol("moved2", "squared distance of the local solution to w^{t-1}", LENGTH2, low=Fraction(0), low_open=True)

_reach, _residual = (mu - lam) * sp.sqrt(_MOVED.expr), sp.sqrt(_RESIDUAL.expr)

STATEMENTS = (
    Statement(
        source=_SOURCE,
        reading="as_printed",
        title=_TITLE,
        symbols=(_ERROR, _STEP),
        metric=Metric("none", ONE),
        bound=sp.sqrt(_ERROR.expr / _STEP.expr),
        kind=Kind.FORMULA,
        belief=Belief.TRUE,
        remark="The least gamma; the definition asks that it is below 1. Where the exact solution is w^{t-1} itself, "
        "only the exact solution will do.",
    ),
    Statement(
        source=_SOURCE,
        reading="certified",
        title=_TITLE + ", from what a solver can compute",
        symbols=(SYMBOLS["lam"], SYMBOLS["mu"], _RESIDUAL, _MOVED),
        metric=Metric("none", ONE),
        bound=_residual / (_reach - _residual),
        kind=Kind.FORMULA,
        conditions=(
            ABOVE_CURVATURE,
            Condition("small residual", sp.Lt(_residual, _reach), "the exact solution is known to differ from w^{t-1}"),
        ),
        belief=Belief.TRUE,
        replaces="the distance to the exact solution, which nobody knows, by the subproblem's gradient",
        why="The subproblem is (mu - lam)-strongly convex: its minimiser is within residual/(mu - lam) of the local "
        "solution, so that the distance of the minimiser to w^{t-1} is at least moved - residual/(mu - lam).",
    ),
)
