"""(96): the residual at the rounds' own minimisers by R and Sigma."""

from __future__ import annotations

from typing import Any

from boundcheck.papers.async_fl._shared import CORRECTED as OF_SAMPLES
from boundcheck.papers.async_fl._shared import L_OF_CLIENTS, PRINTED, Reading, of_constant
from boundcheck.papers.async_fl._theorem_1 import FIRST, FIRST_PRINTED
from boundcheck.theory.dimension import GRADIENT2
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"


def _statement(reading: Reading, bound: Any, **more: Any) -> Statement:
    return of_constant(
        reading,
        ("(96)", "Appendix A.4, the second inequality"),
        "Residual Sigma_1 at the minimisers of the rounds' problems",
        "S1",
        bound,
        dimension=GRADIENT2,
        **more,
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the right side by its quotient with the smallest q(n)",
            why="Sigma_1 is a mean with the normalised weights q_i(n)/q(n), while R and Sigma have the weights q_i(n). "
            "Time-based weights on unequal hardware always have a round with q(n) < 1.",
        ),
        FIRST,
        assumptions=OF_SAMPLES[:2],
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Right for q(n) >= 1. One client with q(n) = c: the left side is E|g|^2, the right one 2 c E|g|^2.",
        ),
        FIRST_PRINTED,
        assumptions=PRINTED[:2],
        changed=(L_OF_CLIENTS,),
    ),
)
