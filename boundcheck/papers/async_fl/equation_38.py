"""(38): asynchronous FedAvg with time-based weights at step sizes in proportion to 1/sqrt(KN).

The paper prints orders, with eta_g = 1 and eta_l = 1/sqrt(KN), so without units. The printed reading bounds the
term eps_W of Theorem 3 as printed, at the step size eta_unit/sqrt(KN), by the sum of the printed terms, with the factor
that the order hides in that term. The corrected one is Theorem 3 at that step size.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

RATIO = positive("ratio", "update time of the slowest client over that of the fastest, tau_M/tau_0",
                 key="schedule/time_ratio", latex=r"(\tau_M/\tau_0)")  # fmt: skip
ratio = RATIO.expr
order = (
    dist2_0 / sp.sqrt(K * N)
    + (K - 1) * Sigma / N
    + ratio * (R + Sigma) / sp.sqrt(K * N)
    + ratio**3 * K * M**2 * (R + Sigma) / N
    + (W - 1) / sp.sqrt(K * N)
)

theorem = Theorem(
    source=Source(PAPER, "(38)", "Section 4.3"),
    title="Rate of asynchronous FedAvg",
    symbols=(*NOTATION, RATIO),
    metric=Metric.mean("gap", VALUE, rounds=N, expectation=OVER, scale=q_bar, surrogate=True),
    readings={
        "corrected": Reading(
            bound=(eps_F + eps_K + eps_alpha + eps_beta + eps_W).subs(AT_STEP),
            belief=Belief.TRUE,
            algorithm=Algorithm("fedavg_async", ("eta_l", "eta_g"), any_value=("times", "batch")),
            choices={"eta_l": step},
            conditions=(STEP_98, BETA_9_RHO, NO_SERVER_STEP, WHOLE_PERIODS),
            assumptions=(*CORRECTED, window_property, bounded_gradients, plain_mean),
            replaces="the terms under O(.) by the corrected Theorem 3 with all its constants",
            why=f"{LOST_K}; the residual R is missing from the second term. The O hides rho too, which for one client "
            "a round is max d_i, up to tau_M/tau_0: the constants have the powers 3 and 6 of it where (38) prints 1 "
            "and 3.",
        ),
        "as_printed": Reading(
            bound=q_bar * eta_unit * B**2 * order,
            belief=Belief.FALSE,
            metric=Metric.formula(None, q_bar * K * step * (W - 1) * B**2),  # eps_W as printed, at this step size
            printed_rate=order,
            remark=f"Where the other terms vanish the sides are K to 1, so that no larger factor helps. {LOST_K}; R is "
            "missing from the second term, and powers of rho.",
        ),
    },
)
