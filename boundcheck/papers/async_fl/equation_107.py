"""(107): unbiased sampling of m clients a round. It is Theorem 1 without delays, with rho = 1 and R = 0."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

NO_DELAY = Condition("no delay", sp.Eq(tau, 0))
WEIGHTS = Condition("weights", sp.Eq(rho, 1), "whose expectations sum to 1")

theorem = Theorem(
    source=Source(PAPER, "(107)", "Appendix C.2; constants from Theorem 1"),
    title="Mean gap under unbiased sampling of clients",
    symbols=NOTATION,
    any_method=True,
    metric=mean_over_rounds("gap", VALUE),
    readings={
        "corrected": Reading(
            bound=eps_F + (12 + 24 * alpha) * e * L * Sigma + 6 * alpha * h * Sigma / (K * M) + 6 * beta * h * Sigma,
            belief=Belief.TRUE,
            conditions=(STEP_98, BETA_9_RHO, NO_DELAY, WEIGHTS),
            assumptions=(*CORRECTED, same_expected_weights, plain_mean),
            replaces="the last term, of order et beta Sigma, by K et beta Sigma",
            why="The cohort is drawn once for all K local steps, so that its variance enters with the step of a round.",
        ),
        "as_printed": Reading(
            bound=eps_F + (6 + 12 * alpha) * e * L * Sigma + 6 * alpha * et * Sigma / M + 6 * beta * et * Sigma,
            belief=Belief.FALSE,
            metric=mean_over_rounds("virtual_gap", VALUE),
            conditions=(STEP_98, *ASSUMPTION_5, NO_DELAY, WEIGHTS),
            assumptions=(*PRINTED, same_expected_weights, plain_mean),
            symbols=(L_OF_CLIENTS,),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} The last term is et beta Sigma.",
        ),
    },
)
