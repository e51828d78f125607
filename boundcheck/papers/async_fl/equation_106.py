"""(106): centralised learning, K N steps of stochastic gradient descent.

It is Theorem 1 for single steps (K = 1 and K N rounds), with alpha = rho = 1 and no delay.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

SERVER = Condition("server step size", sp.Eq(eta_g, 1), "redundant with the local one")

theorem = Theorem(
    source=Source(PAPER, "(106)", "Appendix C.1; constants from Theorem 1"),
    title="Mean gap of centralised stochastic gradient descent",
    symbols=NOTATION,
    metric=mean_over_rounds("gap", VALUE),
    algorithm=Algorithm("centralised", ("eta_l", "eta_g"), any_value=("batch",)),
    bound=dist2_0 / (eta_l * K * rounds) + 6 * eta_l * Sigma,
    readings={
        "corrected": Reading(
            belief=Belief.TRUE,
            conditions=(
                Condition("step size (98)", eta_l <= 1 / (144 * L)),
                SERVER,
                Condition("local steps", sp.Eq(K, 1)),
            ),
            assumptions=CORRECTED,
            replaces="the mean over all K N points by that over rounds of one step, and the delay 1 by 0",
            why="The only client starts every round from the newest model, so that there is no delay; and a method "
            "that is measured after rounds is K N rounds of one step.",
        ),
        "as_printed": Reading(
            belief=Belief.FALSE,
            metric=mean_over_rounds("virtual_gap", VALUE),
            conditions=(Condition("step size (98)", eta_l <= 1 / (288 * K * L)), SERVER),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS,),
            remark=f"{SAMPLES} Samples with slopes a_j x, some negative, whose mean is small and positive: the second "
            "moment grows by the mean of (1 - eta_l a_j)^2 a step, and there is no noise at the minimiser. Here "
            "virtual models are the iterates. Section C.1 takes the delay as 1, which only makes the step smaller. Its "
            "x in the second term is theta*.",
        ),
    },
)
