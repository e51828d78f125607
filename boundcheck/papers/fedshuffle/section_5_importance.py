"""Section 5: M of importance sampling, clients drawn independently with probabilities b*w_i."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from boundcheck.papers.fedshuffle._shared import PAPER, Reading
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_LEAST = Symbol(
    "w_min",
    "the smallest weight of a client",
    ONE,
    low=Fraction(0),
    low_open=True,
    high=Fraction(1),
    key="clients/w_min",
)
_COHORT = Symbol(
    "b", "expected number of clients in a round", ONE, low=Fraction(0), low_open=True, key="participation/b"
)


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Section 5", "the paragraph after Theorem 5.1, importance sampling"),
        reading=reading.name,
        title="M of importance sampling",
        symbols=(_LEAST, _COHORT),
        metric=Metric("constant:M", ONE, expectation="none: a constant of the participation"),
        bound=bound,
        kind=Kind.EQUALITY,
        domain=(sp.Le(_COHORT.expr * _LEAST.expr, 1),),
        assumptions=(
            Assumption(
                "importance_participation", "Clients take part independently of each other, client i with b w_i <= 1."
            ),
        ),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="(1 - min w)/b by 1/b - min w",
            why="Independent clients have s_i = 1 - p_i, so that s_i w_i/p_i = (1 - b w_i)/b.",
        ),
        1 / _COHORT.expr - _LEAST.expr,
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="Right for b = 1; too large for b > 1, so that bounds stay true."),
        (1 - _LEAST.expr) / _COHORT.expr,
    ),
)
