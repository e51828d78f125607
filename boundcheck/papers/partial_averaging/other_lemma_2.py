"""Lemma 2 of "Proof of Other Lemmas": the deviation from the average is no longer than the vector, (67)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.partial_averaging._shared import PAPER, SYMBOLS, m
from boundcheck.theory.dimension import FREE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

_X = Symbol("norm2_x", "squared norm of the m stacked blocks", FREE, low=Fraction(0), latex=r"\|x\|^2")
_MEAN = Symbol("norm2_mean", "squared norm of their mean", FREE, low=Fraction(0), latex=r"\|\bar x\|^2")
_METRIC = Metric("norm2_of_deviation", FREE, expectation="none: the lemma is about any vector")
_SOURCE = Source(PAPER, "Other lemmas, Lemma 2", "Appendix B, (67)")
_TITLE = "Squared norm of the blocks' deviation from their mean"

BEST = "as_printed"

STATEMENTS = (
    Statement(
        source=_SOURCE,
        reading="as_printed",
        title=_TITLE,
        symbols=(_X,),
        metric=_METRIC,
        bound=_X.expr,
        belief=Belief.TRUE,
        remark="J_j projects orthogonally on d_j dimensions. The proof's 'only two different columns' and "
        "diag(1, 1, 0, ...) are those of its example with d_j = 2.",
    ),
    Statement(
        source=_SOURCE,
        reading="sharp",
        title=_TITLE,
        symbols=(SYMBOLS["m"], _X, _MEAN),
        metric=_METRIC,
        bound=_X.expr - m * _MEAN.expr,
        kind=Kind.EQUALITY,
        belief=Belief.TRUE,
        replaces="the bound by the value",
        why="I - J_j is an orthogonal projector, and J_j x is the mean m times over.",
    ),
)
