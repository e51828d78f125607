"""Assumptions and symbols of Lemmas B.4 and E.5, the variance of what a random cohort adds up."""

from __future__ import annotations

from fractions import Fraction

from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Metric
from boundcheck.theory.symbols import Symbol

VARIANCE = Metric("participation_variance", GRADIENT2, expectation="cohort")


def weighted_squares(meaning: str) -> Symbol:
    """The right side of the lemma, a weighted sum of squared norms."""
    return Symbol("weighted_squares", meaning, GRADIENT2, low=Fraction(0))
