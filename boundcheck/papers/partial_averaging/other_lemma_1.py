"""Lemma 1 of "Proof of Other Lemmas": the norm of a matrix times a vector, (65)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.partial_averaging._shared import PAPER
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

_A = Symbol("norm_A", "operator norm of the matrix", ONE, low=Fraction(0), latex=r"\|A\|_{\mathrm{op}}")
_B = Symbol("norm2_b", "squared norm of the vector", FREE, low=Fraction(0), latex=r"\|b\|^2")

BEST = "as_printed"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "Other lemmas, Lemma 1", "Appendix B, (65)"),
        reading="as_printed",
        title="Squared norm of a matrix times a vector",
        symbols=(_A, _B),
        metric=Metric("norm2_of_product", FREE, expectation="none: the lemma is about any matrix and vector"),
        bound=_A.expr**2 * _B.expr,
        belief=Belief.TRUE,
        remark="Squared on both sides. The printed hypotheses, a symmetric matrix and b not 0, are not needed.",
    ),
)
