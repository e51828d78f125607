"""Example 2, (30): where two clients who take turns lead to."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._examples import FIRST, ONE_END, OTHER_END, PAIRS, SECOND, STEP, moved
from boundcheck.papers.async_fl._shared import Reading, told
from boundcheck.theory.assumptions import two_alternating_clients
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Statement

BEST = "corrected"

_q1, _q2, _t1, _t2, _j = (symbol.expr for symbol in (FIRST, SECOND, ONE_END, OTHER_END, PAIRS))
_a, _b = moved * _q1, moved * _q2
_STABLE = (
    Condition("product", sp.Lt(_a * _b, 1)),
    Condition("steps", sp.Gt((1 - _a) * (1 - _b), -1)),
)


def _limit(extra: Any) -> Any:
    """Limit of every second model. extra: the minimiser of the client that contributed last."""
    return (_a * _t1 + _b * _t2 + _a * _b * extra) / (_a + _b + _a * _b)


def _statement(reading: Reading, rounds: Any, bound: Any, *conditions: Condition) -> Statement:
    return told(
        reading,
        ("Example 2", "Section 3.4, (30)"),
        "Limit of two clients who take turns",
        Metric("x", None, index="j", rounds=rounds),
        bound,
        kind=Kind.LIMIT,
        conditions=conditions,
        assumptions=(two_alternating_clients,),
        changed=(STEP, PAIRS, FIRST, SECOND, ONE_END, OTHER_END),
    )


_WHY = (
    "Client 1 moves the model at its turn by a = eta_g phi q_1 of the way from the model that it received to its "
    "minimiser, client 2 by b. The two fixed points of a pair of rounds differ unless a b (theta_1 - theta_2) = 0"
)
STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the limit by that of the models with even numbers",
            why=f"{_WHY}.",
            remark="A cycle of two points, not a limit. For q_1 = 1, q_2 = 1/2, eta_g phi = 3/10 and minimisers 0 "
            "and 3 "
            "it is 13/11 and 10/11, and (30) says 1. For a = b the mean of the two is that of the minimisers.",
        ),
        2 * _j,
        _limit(_t2),
        *_STABLE,
    ),
    _statement(
        Reading(
            "corrected_odd",
            Belief.TRUE,
            replaces="the limit by that of the models with odd numbers",
            why=f"{_WHY}.",
        ),
        2 * _j + 1,
        _limit(_t1),
        *_STABLE,
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="True as the step size goes to 0, and only then. The condition said to be equivalent to the right "
            "limit, on the mean of qt_i(n) over two rounds, holds whatever q_1 and q_2, since with one client a round "
            "qt_i(n) is 1; it must be asked of q_i/(q_1 + q_2).",
        ),
        _j,
        (_q1 * _t1 + _q2 * _t2) / (_q1 + _q2),
        *_STABLE,
    ),
)
