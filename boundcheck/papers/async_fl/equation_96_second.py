"""(96): the residual Sigma_2, with squared weights."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import CORRECTED as OF_SAMPLES
from boundcheck.papers.async_fl._shared import L_OF_CLIENTS, PRINTED, Reading, of_constant
from boundcheck.papers.async_fl._theorem_1 import SECOND, SECOND_PRINTED
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"


def _statement(reading: Reading, bound: Any, **more: Any) -> Statement:
    return of_constant(
        reading,
        ("(96)", "Appendix A.4, both inequalities"),
        "Residual Sigma_2 at the minimisers of the rounds' problems",
        "S2",
        bound,
        dimension=GRADIENT2,
        **more,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="max q_i(n) by the smaller of 1 and max q_i(n)/min q(n), and the bound of Sigma_1",
            why="The weights of Sigma_2 are squares of q_i(n)/q(n), of which one factor is at most 1 and at most "
            "max q_i(n)/min q(n).",
        ),
        SECOND,
        assumptions=OF_SAMPLES[:2],
    ),
    _statement(
        Reading("as_printed", Belief.FALSE, remark="Right for q(n) >= 1. Both steps need it."),
        SECOND_PRINTED,
        assumptions=PRINTED[:2],
        changed=(L_OF_CLIENTS,),
    ),
)
