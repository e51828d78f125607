"""The paragraph "Choice of E": SCGD with the step size ell*log(T)/T, and the rule for E below it.

The rule is compared where E is the least number of local steps with mu ell E/3 >= 2, and mu ell (E - part)/3 = 2.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

NORM = nonnegative("norm2_0", "squared norm of the start", LENGTH2, r"\|\theta_0\|^2")
norm2_0 = NORM.expr

PART = nonnegative("part", "unneeded part of the last local step", high=Fraction(1), high_open=True, latex="u")

theorems = {
    "choice_of_e": Theorem(
        source=Source(PAPER, "Choice of E", "Section 3.2, the display with T^(-mu*ell*E/3)"),
        title="SCGD with the step size ell*log(T)/T",
        symbols=(*HORIZON, NORM),
        algorithm=Algorithm("scgd", ("E", "ell", "T"), HORIZON_STEPS),
        metric=Metric.last("dist2", LENGTH2, rounds=T),
        assumptions=ASSUMPTIONS,
        domain=(MU_AT_MOST_L,),
        conditions=(HORIZON_STEP_CONDITION, WHOLE_CYCLES),
        readings={
            "corrected": Reading(
                bound=T ** (-mu * ell * E / 3) * dist2_0 + HORIZON_NOISE,
                trivial=dist2_0,
                belief=Belief.TRUE,
                replaces="the squared norm of the start by its squared distance to the solution set, and cycle K+1 by "
                "K",
                why="Theorem 3.3 starts from the distance and gives cycle K = T/n.",
            ),
            "as_printed": Reading(
                bound=T ** (-mu * ell * E / 3) * norm2_0 + HORIZON_NOISE,
                belief=Belief.FALSE,
                remark="A start at the origin would make the first term vanish wherever the minimiser is. The printed "
                "left side, the squared distance of cycle K+1 to a minimiser, is read as dist2 after T rounds.",
            ),
        },
    ),
    "choice_of_e_rule": Theorem(
        source=Source(PAPER, "Choice of E", "Section 3.2, the rule for the number of local steps"),
        title="The number of local steps that makes the contraction T^(-2)",
        symbols=(*HORIZON, PART),
        metric=Metric.formula(ONE, E, where={"mu": 6 / (ell * (E - PART.expr))}),
        kind=Kind.EQUALITY,
        readings={
            "corrected": Reading(
                bound=sp.ceiling(6 / (mu * ell)),
                belief=Belief.TRUE,
                replaces="the rule E = ceil(4/(mu*ell))",
                why="With the factor 1/3 of Theorem 3.3 the printed rule gives T^(-4/3) only.",
            ),
            "as_printed": Reading(
                bound=sp.ceiling(4 / (mu * ell)),
                belief=Belief.FALSE,
                remark="The order T^(-2) claimed for it does not follow from Theorem 3.3.",
            ),
        },
    ),
}
