"""Example 1: by what factor the distance to the optimum changes in a round, in the long run."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._examples import STEP, moved
from boundcheck.papers.async_fl._shared import Reading, formula
from boundcheck.theory.assumptions import four_alternating_clients
from boundcheck.theory.statement import Belief

BEST = "corrected"

STATEMENTS = (
    formula(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="no value is printed",
            why="It is the larger absolute value of the roots (1 +- sqrt(1 - 4 phi))/2 of (22), phi with the factor "
            "eta_g: sqrt(phi) where they are not real.",
        ),
        ("Example 1", "Section 3.3, from (22)"),
        "Spectral radius of the recursion",
        sp.Max(sp.sqrt(sp.Max(0, moved)), (1 + sp.sqrt(sp.Max(0, 1 - 4 * moved))) / 2),
        None,
        assumptions=(four_alternating_clients,),
        changed=(STEP,),
    ),
)
