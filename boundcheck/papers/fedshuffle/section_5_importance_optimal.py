"""Section 5: the smallest M among samplings that draw clients independently; here for two clients, one expected.

It is taken at p_1 : p_2 = sqrt(w_1) : sqrt(w_2), where (1 - p_i) w_i/p_i is the same for both.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

WEIGHT = Symbol(
    "w",
    "weight of one of the two clients",
    ONE,
    low=Fraction(0),
    low_open=True,
    high=Fraction(1),
    high_open=True,
    key="clients/w_min",  # either of the two will do
)
w = WEIGHT.expr

theorem = Theorem(
    source=Source(PAPER, "Section 5", "importance sampling: 'the M term is minimized for this sampling'"),
    title="Smallest M of two independently drawn clients, one a round in the mean",
    symbols=(WEIGHT,),
    metric=Metric.constant("participation/M", ONE, "the participation"),
    kind=Kind.EQUALITY,
    assumptions=(
        Assumption(
            "smallest_m_of_two",
            "There are two clients of total weight 1. They take part independently of each other, one a round in the "
            "mean, with the probabilities for which M is smallest.",
        ),
    ),
    readings={
        "corrected": Reading(
            bound=sp.sqrt(w * (1 - w)),
            belief=Belief.TRUE,
            replaces="the claim that probabilities in proportion to the weights minimise M",
            why="M = max (1 - p_i) w_i/p_i is least where all entries are equal, at p_i = w_i/(w_i + M); for two "
            "clients with p_1 + p_2 = 1 that gives M^2 = w_1 w_2.",
        ),
        "as_printed": Reading(
            bound=1 - sp.Min(w, 1 - w),
            belief=Belief.FALSE,
            remark="M at p_i = w_i, 1 - min w. For the weights 9/10 and 1/10 it is 9/10, but p = (3/4, 1/4) has 3/10.",
        ),
    },
)
