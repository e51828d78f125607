"""Example 1, (22): the next model from the last two."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl.definitions import NOTATION, PAPER, eta_g
from boundcheck.theory.assumptions import four_alternating_clients
from boundcheck.theory.dimension import LENGTH, ONE
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

theta_opt, theta_n1, theta_n, phi = sp.symbols("theta_opt theta_n1 theta_n phi", real=True)

theorem = Theorem(
    source=Source(PAPER, "Example 1", "Section 3.3, (22)"),
    title="Model theta^(n+2)",
    symbols=(
        *NOTATION,
        Symbol("theta_opt", "minimiser of the federated problem", LENGTH, latex=r"\theta^*"),
        Symbol("theta_n1", "model theta^(n+1)", LENGTH),
        Symbol("theta_n", "model theta^n", LENGTH),
        Symbol(
            "phi", "share phi of the way to its minimiser that a client goes, 1 - (1 - eta_l)^K", ONE, latex=r"\phi"
        ),
    ),
    metric=Metric("none", LENGTH),
    kind=Kind.FORMULA,
    assumptions=(four_alternating_clients,),
    readings={
        "corrected": Reading(
            bound=theta_n1 + eta_g * phi * (theta_opt - theta_n),
            belief=Belief.TRUE,
            replaces="phi by eta_g phi",
            why="The server moves by eta_g times the mean of the contributions.",
            remark="The first round starts as if the model before theta^0 had been theta^0.",
        ),
        "as_printed": Reading(
            bound=theta_n1 + phi * (theta_opt - theta_n),
            belief=Belief.TRUE,
            remark="For eta_g = 1, as the example has it.",
        ),
    },
)
