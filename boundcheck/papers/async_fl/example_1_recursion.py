"""Example 1, (22): the next model from the last two."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.papers.async_fl._examples import NEW, OLD, OPTIMUM, PHI
from boundcheck.papers.async_fl._shared import Reading, eta_g, formula
from boundcheck.theory.assumptions import four_alternating_clients
from boundcheck.theory.dimension import LENGTH
from boundcheck.theory.statement import Belief, Statement

BEST = "corrected"


def _statement(reading: Reading, step: Any) -> Statement:
    return formula(
        reading,
        ("Example 1", "Section 3.3, (22)"),
        "Model theta^(n+2)",
        NEW.expr + step * PHI.expr * (OPTIMUM.expr - OLD.expr),
        LENGTH,
        assumptions=(four_alternating_clients,),
        changed=(OPTIMUM, NEW, OLD, PHI),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="phi by eta_g phi",
            why="The server moves by eta_g times the mean of the contributions.",
            remark="The first round starts as if the model before theta^0 had been theta^0.",
        ),
        eta_g,
    ),
    _statement(Reading("as_printed", Belief.TRUE, remark="For eta_g = 1, as the example has it."), sp.S.One),
)
