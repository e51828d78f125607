"""(98), the step condition of Theorem 1, implies all constraints on the step that its proof uses."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._appendix_a_5 import implies_the_list
from boundcheck.papers.async_fl._shared import Reading, at_cap, beta
from boundcheck.papers.async_fl._theorem_1 import BETA_AT_MOST_9_RHO
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_SOURCE = ("(98)", "Appendix A.5, the constraints that it is to simplify")

STATEMENTS = (
    implies_the_list(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the effective step by that of a round, and the silent beta <= 1 by beta <= 9 rho",
            why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l. (98) leaves "
            "so much room that beta <= 9 rho is enough.",
        ),
        _SOURCE,
        at_cap(),
        BETA_AT_MOST_9_RHO,
    ),
    implies_the_list(
        Reading(
            "as_printed",
            Belief.FALSE,
            remark="Theorem 1 has (98) as its only condition on the step, for every scheme: beta is not limited, but "
            "it is a factor in three of the constraints.",
        ),
        _SOURCE,
        at_cap(),
        Condition("beta", sp.Ge(beta, 0), "any scheme"),
    ),
)
