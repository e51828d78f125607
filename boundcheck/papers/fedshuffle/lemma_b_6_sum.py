"""Lemma B.6, its second part: the squared norm of a sum of any number of vectors (23)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_tau = Symbol("tau", "number of vectors", ONE, integer=True, low=Fraction(1), latex=r"\tau")
_squares = Symbol("squares", "sum of the squared norms of the vectors", FREE, low=Fraction(0))

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma B.6", "Appendix B.4, (23)"),
        reading="as_printed",
        title="Squared norm of a sum of vectors",
        symbols=(_tau, _squares),
        metric=Metric("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors"),
        bound=_tau.expr * _squares.expr,
        belief=Belief.TRUE,
    ),
)
