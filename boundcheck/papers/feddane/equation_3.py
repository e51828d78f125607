"""Equation (3) and step 9 of Algorithm 2: over which devices the local solutions are averaged.

The example has F_1 = 0, F_2 = w^2 and p = 1/2, where the expected gap is known: device k moves w to w - g/(mu + H_k),
H = (0, 2), and g is 0 or 2w, each with probability 1/2, where one device is drawn.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

# The example has no units, and its equality holds at the start too.
OWN = (
    positive("mu", "weight of the proximal term", latex=r"\mu", key="method/prox"),
    count("K2", "devices in S'_t, which solve subproblems", key="participation/cohort_size", latex="K'"),
    count("T", "iterations (two communications each)", 0, index=True),
)
K2 = OWN[1].expr

# (w^t/w)^2 where g = 2w and the flat or the curved device solves; g = 0 leaves w where it is, whoever solves.
flat, curved = (1 - 2 / mu) ** 2, (mu / (mu + 2)) ** 2

theorem = Theorem(
    source=Source(PAPER, "equation (3)", "Section III-C; step 9 of Algorithm 2 averages over S_t"),
    title="FedDANE with one device a cohort on F_1 = 0, F_2 = w^2: the exact expected gap",
    symbols=(*NOTATION, *OWN),
    metric=Metric.last("gap", None, index=T, expectation=COHORTS),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("feddane", ("mu",), any_value=("K",)),
    conditions=(
        Condition("exact solutions", sp.Eq(gamma, 0)),
        Condition("one gradient", sp.Eq(K, 1)),
        Condition("one solver", sp.Eq(K2, 1)),
    ),
    assumptions=(instance("feddane_1d"), independent_cohorts, unbiased_gradient_cohort, unbiased_solver_cohort),
    readings={
        "corrected": Reading(
            bound=gap_0 * ((2 + flat + curved) / 4) ** T,
            belief=Belief.TRUE,
            replaces="'each device k in S_t solves' and the mean over S_t by S'_t",
            why="The text before (3) and step 6 of the algorithm draw another set S'_t, and only its devices solve.",
        ),
        "as_printed": Reading(
            bound=gap_0 * ((1 + curved) / 2) ** T,  # S'_t = S_t: where the flat device is drawn, g = 0
            belief=Belief.FALSE,
            remark="Taken at its word, the devices whose gradients were collected solve and are averaged, so that the "
            "other set has no part in the iteration.",
        ),
    },
)
