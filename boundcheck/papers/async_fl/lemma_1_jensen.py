"""The remark after Lemma 1, (55): a lower bound of the cross terms, said to follow from Jensen's inequality."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import Reading, formula, nonnegative, share
from boundcheck.theory.dimension import FREE
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"

_TOGETHER = nonnegative("together", "|sum of q_i x_i|^2", FREE)
_SINGLE = nonnegative("single", "sum of q_i^2 |x_i|^2", FREE)
_LARGEST = share("qt_max", "largest normalised expected weight q_i(n)/q(n) of the round")


def _statement(reading: Reading, bound: Any) -> Statement:
    return formula(
        reading,
        ("Lemma 1, remark", "Appendix A.3, (55)"),
        "Lower bound of the sum over different clients of <q_i x_i, q_j x_j>",
        bound,
        FREE,
        changed=(_TOGETHER, _SINGLE, _LARGEST),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the bound by (54) itself",
            why="Jensen bounds |sum of q_i x_i|^2 by q(n) sum of q_i |x_i|^2, the other way round. For x_1 = -x_2 and "
            "q = (1/2, 1/2) the cross terms are -|x_1|^2/2.",
        ),
        _TOGETHER.expr - _SINGLE.expr,
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="The cross terms can be negative; the remark is used nowhere."),
        (1 - _LARGEST.expr) * _TOGETHER.expr,
    ),
)
