"""Lemma B.6, its first part: the relaxed triangle inequality (22)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, Reading
from boundcheck.theory.dimension import FREE, ONE
from boundcheck.theory.statement import Belief, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "as_printed"

_a = Symbol("a", "any positive number", ONE, low=Fraction(0), low_open=True)
_u = Symbol("norm2_u", "squared norm of the first vector", FREE, low=Fraction(0), latex=r"\|u\|^2")
_v = Symbol("norm2_v", "squared norm of the second vector", FREE, low=Fraction(0), latex=r"\|v\|^2")


def _statement(reading: Reading, symbols: tuple[Symbol, ...], bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Lemma B.6", "Appendix B.4, (22)"),
        reading=reading.name,
        title="Squared norm of a sum of two vectors",
        symbols=symbols,
        metric=Metric("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors"),
        bound=bound,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
    )


STATEMENTS = (
    _statement(
        Reading("as_printed", Belief.TRUE),
        (_a, _u, _v),
        (1 + _a.expr) * _u.expr + (1 + 1 / _a.expr) * _v.expr,
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="the free number a by the best one, |v|/|u|",
            why="Then the right side is (|u| + |v|)^2, the least over all a, which two vectors of one direction "
            "attain. It needs no division where one of the vectors is 0.",
        ),
        (_u, _v),
        (sp.sqrt(_u.expr) + sp.sqrt(_v.expr)) ** 2,
    ),
)
