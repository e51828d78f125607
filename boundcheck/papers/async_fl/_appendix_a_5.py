"""What Appendix A.5 claims of its simpler step conditions (97) and (98): that each implies the whole list before them.

Every constraint of the list is scaled so that its right side is 1. The largest left side is then what is bounded, by 1:

    2 D,    24 rho^2 (alpha + beta) (h tau L)^2,    3 rho (alpha + beta) s L,    c of (92),    3 rho^2 s L,
    48 rho^3 (h tau L)^2,

with the step s = eta_g eta_l as printed, and s = h = K eta_g eta_l where the proof of Theorem 1 is for whole rounds.
"""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl._shared import Reading, alpha, nonnegative, told
from boundcheck.theory.dimension import ONE
from boundcheck.theory.statement import Condition, Metric, Statement

ALPHA = nonnegative(
    "alpha", "E[w_i w_j] is alpha q_i q_j for different clients", latex=r"\alpha", key="participation/alpha"
)
ALPHA_AT_MOST_1 = Condition("alpha", sp.Le(alpha, 1), "the paper notes it of every scheme")
LARGEST = Metric("largest_constraint", ONE, expectation="none: the constraints are about numbers")


def implies_the_list(reading: Reading, source: tuple[str, str], *conditions: Condition) -> Statement:
    """That the conditions imply every constraint of the list."""
    return told(
        reading,
        source,
        "The constraints on the step of the proof of Theorem 1, from simpler ones",
        LARGEST,
        sp.S.One,
        conditions=(*conditions, ALPHA_AT_MOST_1),
        changed=(ALPHA,),
    )
