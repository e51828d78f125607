"""(108): biased sampling in part of a window, so that the window as a whole is unbiased.

The corrected reading is Theorem 3 without delays, for cohorts that are certain: alpha = 1 and beta = 0.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

order = (  # each term with the constant 1
    dist2_0 / sp.sqrt(K * N) + (K - 1) * Sigma / N + Sigma / (M * sp.sqrt(K * N)) + et * (W - 1) * K
)

theorem = Theorem(
    source=Source(PAPER, "(108)", "Appendix C.3"),
    title="Sampling by a criterion, mended within a window",
    symbols=NOTATION,
    metric=mean_over_rounds("gap", VALUE, scale=q_bar, surrogate=True),
    readings={
        "corrected": Reading(
            bound=(eps_F + eps_K + eps_alpha + eps_W).subs({alpha: 1, tau: 0}),
            belief=Belief.TRUE,
            algorithm=Algorithm("biased_sampling", ("eta_l", "eta_g"), any_value=("cohorts", "weights", "batch")),
            conditions=(
                STEP_98,
                BETA_9_RHO,
                Condition("no delay", sp.Eq(tau, 0)),
                Condition("alpha", sp.Eq(alpha, 1)),
                Condition("certain cohorts", sp.Eq(beta, 0)),
            ),
            assumptions=(*CORRECTED, window_property, bounded_gradients),
            replaces="the bound of synchronous FedAvg by that of Theorem 3",
            why="In rounds that choose by a criterion L^n is another problem than F, so that R is positive and stays "
            "in the error terms, and q(n) need not be 1.",
            remark=SCOPE,
        ),
        "as_printed": Reading(
            bound=order,
            belief=Belief.OPEN,
            metric=Metric.formula(None),
            kind=Kind.FORMULA,
            printed_rate=order,
            remark="The order is right in W and K. R of the biased rounds is missing; the last term covers it where W "
            "is at least 2 and R is among the constants that the order hides.",
        ),
    },
)
