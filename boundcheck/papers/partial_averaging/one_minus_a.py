"""The end of the proof of Theorem 2: what the step condition makes of 1/(1 - A)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.partial_averaging._shared import PAPER, Reading, beta2, symbols_in
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief, Condition, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

BEST = "corrected"

_A = Symbol("A", "A = 2 eta^2 tau (tau - 1) L^2", ONE)
_CONDITIONS = (
    Condition("A not negative", sp.Ge(_A.expr, 0), "a product of such"),
    Condition("A small", sp.Le(_A.expr, 1 / (2 * beta2 + 1)), "the step condition of Theorem 2"),
)


def _statement(reading: Reading, bound: Any) -> Statement:
    return Statement(
        source=Source(PAPER, "Theorem 2", "Appendix C, the last step of the proof"),
        reading=reading.name,
        title="1/(1 - A) under the step condition of Theorem 2",
        symbols=symbols_in(bound, *_CONDITIONS, changed={"A": _A}),
        metric=Metric("inverse_of_1_minus_A", ONE, expectation="none: the step is about numbers"),
        bound=bound,
        conditions=_CONDITIONS,
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
            replaces="2/3 by 3/2",
            why="A/(1 - A) <= 1/(2 beta^2) <= 1/2. The theorem's constants 3 and 6 are twice and four times 3/2.",
        ),
        sp.Rational(3, 2),
    ),
    _statement(
        Reading(
            "sharp",
            Belief.TRUE,
            replaces="2/3 by 1 + 1/(2 beta^2)",
            why="This is the inequality before the rounding; it is attained at the largest A.",
        ),
        1 + 1 / (2 * beta2),
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="1/(1 - A) is at least 1; 2/3 is 3/2 turned over."),
        sp.Rational(2, 3),
    ),
)
