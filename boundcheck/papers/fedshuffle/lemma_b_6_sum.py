"""Lemma B.6, its second part: the squared norm of a sum of any number of vectors (23)."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_tau = Symbol("tau", "number of vectors", ONE, integer=True, low=Fraction(1), latex=r"\tau")
_squares = Symbol("squares", "sum of the squared norms of the vectors", FREE, low=Fraction(0))

_spread = Symbol("spread", "sum of the squared distances of the vectors to their mean", FREE, low=Fraction(0))
_METRIC = Metric("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors")
_SOURCE = Source(PAPER, "Lemma B.6", "Appendix B.4, (23)")
_TITLE = "Squared norm of a sum of vectors"

STATEMENTS = (
    Statement(
        source=_SOURCE,
        reading="as_printed",
        title=_TITLE,
        symbols=(_tau, _squares),
        metric=_METRIC,
        bound=_tau.expr * _squares.expr,
        belief=Belief.TRUE,
    ),
    Statement(
        source=_SOURCE,
        reading="sharp",
        title=_TITLE,
        symbols=(_tau, _squares, _spread),
        metric=_METRIC,
        bound=_tau.expr * (_squares.expr - _spread.expr),
        kind=Kind.EQUALITY,
        domain=(sp.Le(_spread.expr, _squares.expr),),
        belief=Belief.TRUE,
        replaces="the inequality by the equation that it is one side of",
        why="What the printed bound gives away is tau times the squared distances of the vectors to their mean, so "
        "that it is attained by equal vectors only.",
    ),
)
