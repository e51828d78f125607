"""Section 5.2.3: FedFix with half the update time between aggregations, all clients alike."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading, eta_g, formula
from boundcheck.papers.async_fl._times import LENGTH, SLOWEST, dt, slowest
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Belief

BEST = "corrected"

_SOURCE = ("Section 5.2.3", "the last paragraph, on F0")
_TITLE = "Server step size of the method that FedFix is, all clients alike"

STATEMENTS = (
    formula(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="'asynchronous FL with a higher server learning rate' by synchronous FedAvg",
            why="All clients arrive in the same rounds, every ceil(tau/dt)-th, with the weights ceil(tau/dt) p_i, "
            "and no "
            "contribution is older than the model: every other round of FedFix-0.5 on F0 is one of FedAvg with "
            "eta_g = 2, and the rounds between are empty.",
        ),
        _SOURCE,
        _TITLE,
        eta_g * sp.ceiling(slowest / dt),
        ONE,
        changed=(SLOWEST, LENGTH),
    ),
    formula(
        Reading("as_printed", Belief.FALSE, remark="The rate 2 is right; the method is synchronous, not asynchronous."),
        _SOURCE,
        _TITLE,
        2 * eta_g,
        ONE,
    ),
)
