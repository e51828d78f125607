"""Lemma 1 (51): the second moment of a weighted sum over a random cohort."""

from __future__ import annotations

from boundcheck.papers.async_fl._shared import OPEN_ALPHA, Reading, alpha, formula, nonnegative
from boundcheck.theory.assumptions import covariance_of_weights
from boundcheck.theory.dimension import FREE
from boundcheck.theory.statement import Belief, Condition, Statement

BEST = "corrected"

_OWN = nonnegative("own", "sum over the clients of gamma_i |x_i|^2, gamma_i = E w_i^2 - alpha q_i^2", FREE)
_TOGETHER = nonnegative("together", "|sum of q_i x_i|^2", FREE)


def _statement(reading: Reading, *conditions: Condition) -> Statement:
    return formula(
        reading,
        ("Lemma 1", "Appendix A.3, (51)"),
        "Second moment of a sum with random weights: E|sum of w_i x_i|^2",
        _OWN.expr + alpha * _TOGETHER.expr,
        FREE,
        assumptions=(covariance_of_weights,),
        conditions=conditions,
        changed=(_OWN, _TOGETHER),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="alpha in (0, 1) and all pairs by alpha in [0, 1] and pairs of different clients",
            why="With i = j Assumption 5 says E w_i^2 = alpha q_i^2 < (E w_i)^2, which no weight satisfies unless "
            "q_i = 0; and the paper itself uses alpha = 0 and alpha = 1.",
            remark="alpha is unique only if two clients can take part together; where they never do, alpha = 1 is as "
            "right as alpha = 0 for weights that are not random.",
        ),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.TRUE,
            remark="The identity is right. Assumption 5 taken literally, with i = j and alpha in (0, 1), is empty.",
        ),
        *OPEN_ALPHA,
    ),
)
