"""Lemma B.6, its first part: the relaxed triangle inequality (22)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.fedshuffle._shared import PAPER
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_a = Symbol("a", "any positive number", ONE, low=Fraction(0), low_open=True)
_u = Symbol("norm2_u", "squared norm of the first vector", FREE, low=Fraction(0), latex=r"\|u\|^2")
_v = Symbol("norm2_v", "squared norm of the second vector", FREE, low=Fraction(0), latex=r"\|v\|^2")

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Lemma B.6", "Appendix B.4, (22)"),
        reading="as_printed",
        title="Squared norm of a sum of two vectors",
        symbols=(_a, _u, _v),
        metric=Metric("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors"),
        bound=(1 + _a.expr) * _u.expr + (1 + 1 / _a.expr) * _v.expr,
        belief=Belief.TRUE,
    ),
)
