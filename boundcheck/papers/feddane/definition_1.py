"""Definition 1: how inexact a local solution is, and what a solver can know of it."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.feddane.definitions import NOTATION, PAPER, lam, mu
from boundcheck.theory.dimension import GRADIENT2, LENGTH2, ONE
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

OWN = (
    Symbol(
        "error2",
        "squared distance of the local solution to the exact one",
        LENGTH2,
        low=Fraction(0),
        latex=r"\|w_k-\hat{w}_k\|^2",
    ),
    Symbol(
        "step2",
        "squared distance of the exact solution to w^{t-1}",
        LENGTH2,
        low=Fraction(0),
        low_open=True,
        latex=r"\|\hat{w}_k-w^{t-1}\|^2",
    ),
    Symbol(
        "residual2",
        "squared gradient norm of the subproblem at the local solution",
        GRADIENT2,
        low=Fraction(0),
        latex=r"\|\nabla h_k(w_k)\|^2",
    ),
    Symbol(
        "moved2",
        "squared distance of the local solution to w^{t-1}",
        LENGTH2,
        low=Fraction(0),
        low_open=True,
        latex=r"\|w_k-w^{t-1}\|^2",
    ),
)
error2, step2, residual2, moved2 = (symbol.expr for symbol in OWN)
residual, moved = sp.sqrt(residual2), sp.sqrt(moved2)

theorem = Theorem(
    source=Source(PAPER, "Definition 1", "Section IV"),
    title="The gamma with which a local solution is gamma-inexact",
    symbols=(*NOTATION, *OWN),
    metric=Metric("none", ONE),
    kind=Kind.FORMULA,
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=sp.sqrt(error2 / step2),
            remark="The least gamma; the definition asks that it is below 1. Where the exact solution is w^{t-1} "
            "itself, only the exact solution will do.",
        ),
        "certified": Reading(
            title="The gamma with which a local solution is gamma-inexact, from what a solver can compute",
            bound=residual / ((mu - lam) * moved - residual),
            conditions=(
                Condition("proximal weight", mu > lam, "the local subproblems are strongly convex"),
                Condition(
                    "small residual",
                    residual < (mu - lam) * moved,
                    "the exact solution is known to differ from w^{t-1}",
                ),
            ),
            replaces="the distance to the exact solution, which nobody knows, by the subproblem's gradient",
            why="The subproblem is (mu - lam)-strongly convex: its minimiser is within residual/(mu - lam) of the "
            "local solution, so that the distance of the minimiser to w^{t-1} is at least moved - residual/(mu - lam).",
        ),
    },
)
