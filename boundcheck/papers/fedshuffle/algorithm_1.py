"""Algorithms 1 to 4: the sign of the server step.

The boxes send Delta_i = y_i - x and step to x - eta_g*Delta, which ascends; the proofs use Delta_i = x - y_i.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

PARAMETERS = ("E", "eta_l", "eta_g")

theorem = Theorem(
    source=Source(PAPER, "Algorithm 1", "Section 4, and again in Algorithms 2, 3 and 4"),
    title="A round of FedShuffle brings the iterate closer to the minimiser, up to noise",
    symbols=(*NOTATION, CONVEXITY),
    metric=Metric.last("dist2", LENGTH2, rounds=1, expectation=COHORTS),
    bound=(1 - mu * et / 2) * D + 2 * et**2 * M * G2 + 9 * L * et**3 * H_c / (eta_g * E) ** 2,
    domain=(MU_AT_MOST_L,),
    conditions=(
        Condition("step size", et <= 1 / (4 * beta_c * L), "on the effective step E*eta_g*eta_l of a round"),
        SERVER_STEP,
        B_AT_LEAST_1,
    ),
    assumptions=(*STRONGLY_CONVEX, data_weights),
    trivial=D,
    readings={
        "corrected": Reading(
            algorithm=Algorithm("fedshuffle", PARAMETERS, any_value=("participation",)),
            belief=Belief.TRUE,
            replaces="Delta_i = y_i - x, as all four boxes print it, by Delta_i = x - y_i",
            why="The proofs write the step as minus a sum of gradients, and the estimator of Section 6 divides Delta_i "
            "by a positive step; only then is the bound, which Lemmas C.1 and C.2 give together, true.",
        ),
        "as_printed": Reading(
            algorithm=Algorithm("fedshuffle_ascending", PARAMETERS, any_value=("participation",)),
            belief=Belief.FALSE,
            remark="With the printed sign the server moves along the gradients, away from every minimiser.",
        ),
    },
)
