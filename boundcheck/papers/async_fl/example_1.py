"""Example 1: whether federated learning converges where two halves of the clients take turns."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._examples import ROUNDS, STEP, moved
from boundcheck.papers.async_fl._shared import Reading, eta_g, eta_l, told
from boundcheck.theory.assumptions import four_alternating_clients
from boundcheck.theory.statement import Belief, Condition, Kind, Metric, Statement

BEST = "corrected"


def _statement(reading: Reading, *conditions: Condition) -> Statement:
    return told(
        reading,
        ("Example 1", "Section 3.3, after (22)"),
        "Convergence of alternating halves of the clients to the optimum",
        Metric("dist2", None, index="n", rounds=ROUNDS.expr),
        sp.S.Zero,
        kind=Kind.LIMIT,
        conditions=conditions,
        assumptions=(four_alternating_clients,),
        changed=(STEP, ROUNDS),
    )


STATEMENTS = (
    _statement(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="convergence always by convergence exactly for 0 < eta_g phi < 1",
            why="The roots of r^2 - r + eta_g phi are (1 +- sqrt(1 - 4 eta_g phi))/2, within the unit circle exactly "
            "for 0 < eta_g phi < 1. With eta_g = 1 that is any K for eta_l < 1, and even K alone for 1 < eta_l < 2.",
            remark="At eta_l = 3/2 and K = 1 phi = 3/2: the model diverges by the factor sqrt(3/2) a round, although "
            "gradient descent at every client contracts. eta_l = 1 gives an orbit of six points.",
        ),
        Condition("forward", sp.Gt(moved, 0)),
        Condition("not too far", sp.Lt(moved, 1)),
    ),
    _statement(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="'Solving (22) proves convergence': no step size is excluded, here those that let a client's own "
            "gradient descent converge. Its list of weights names q_2 in even rounds both 1/2 and 0.",
        ),
        Condition("local steps converge", sp.Lt(eta_l, 2)),
        Condition("server step size", sp.Eq(eta_g, 1)),
    ),
)
