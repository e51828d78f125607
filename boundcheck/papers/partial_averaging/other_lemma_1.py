"""Lemma 1 of "Proof of Other Lemmas": the norm of a matrix times a vector, (65)."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.papers.partial_averaging.definitions import PAPER
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

OWN = (
    Symbol("norm_A", "operator norm of the matrix", ONE, low=Fraction(0), latex=r"\|A\|_{\mathrm{op}}"),
    Symbol("norm2_b", "squared norm of the vector", FREE, low=Fraction(0), latex=r"\|b\|^2"),
)
operator_norm, norm2_b = (symbol.expr for symbol in OWN)

theorem = Theorem(
    source=Source(PAPER, "Other lemmas, Lemma 1", "Appendix B, (65)"),
    title="Squared norm of a matrix times a vector",
    symbols=OWN,
    metric=Metric("norm2_of_product", FREE, expectation="none: the lemma is about any matrix and vector"),
    bound=operator_norm**2 * norm2_b,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            remark="Squared on both sides. The printed hypotheses, a symmetric matrix and b not 0, are not needed."
        )
    },
)
