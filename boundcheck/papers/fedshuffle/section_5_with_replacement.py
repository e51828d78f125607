"""Section 5: how the noise of local steps with replacement depends on the rounds, without strong convexity."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, R, Reading
from boundcheck.papers.fedshuffle._theorem_5_1 import HORIZON
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement

BEST = "corrected"


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1: 'this would be R and R^(1/3)'"),
        reading=reading.name,
        title="Order in R of the noise term of unbiased local steps, general convex and non-convex",
        symbols=(HORIZON,),
        metric=Metric("none", ONE),
        bound=bound,
        kind=Kind.FORMULA,
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
        printed_rate=1 / sp.cbrt(R),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="R^(1/3) by R^(1/2)",
            why="Independent noise enters the recursion with the square of the step, as M G^2 does: Lemma B.3 turns "
            "d/(et R) + c1 et into 2 (c1 d/R)^(1/2).",
        ),
        1 / sp.sqrt(R),
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="True as a bound, but not the order: unbiased noise decays faster."),
        1 / sp.cbrt(R),
    ),
)
