"""The rule for E below "Choice of E".

Compared where E is the least number of local steps with mu ell E/3 >= 2, and mu ell (E - part)/3 = 2.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

PART = nonnegative("part", "unneeded part of the last local step", high=Fraction(1), high_open=True, latex="u")

theorem = Theorem(
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
)
