"""(97) implies all constraints on the step that the proof of Theorem 1 uses."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._appendix_a_5 import implies_the_list
from boundcheck.papers.async_fl._shared import Reading, beta, et, h, rho
from boundcheck.papers.async_fl.equation_97 import conditions
from boundcheck.theory.statement import Belief, Condition

BEST = "corrected"

_SOURCE = ("(97)", "Appendix A.5, the constraints before it")

STATEMENTS = (
    implies_the_list(
        Reading(
            "corrected",
            Belief.TRUE,
            replaces="the effective step by that of a round, and beta <= 1 by beta <= rho",
            why="Argued for whole rounds, the single powers of the step are those of h = K eta_g eta_l; and beta <= "
            "rho, which is weaker than beta <= 1, is enough.",
        ),
        _SOURCE,
        *conditions(h),
        Condition("beta", sp.Le(beta, rho)),
    ),
    implies_the_list(
        Reading("as_printed", Belief.TRUE, remark="beta <= 1 is noted of every scheme, and is not true of every one."),
        _SOURCE,
        *conditions(et),
        Condition("beta", sp.Le(beta, 1), "the paper notes it of every scheme"),
    ),
)
