"""(42): FedFix at step sizes in proportion to 1/sqrt(KN).

The paper prints orders, with eta_g = 1 and eta_l = 1/sqrt(KN), so without units. The printed reading bounds the
term eps_W of Theorem 3 as printed, at the step size eta_unit/sqrt(KN), by the sum of the printed terms, with the factor
that the order hides in that term. The corrected one is Theorem 3 at that step size, for deterministic
update times: alpha = 1 and beta = 0.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

VISIT = count("c", "rounds between two contributions of the slowest client, ceil(tau_M/dt)",
              key="schedule/visit_rounds")  # fmt: skip
c = VISIT.expr
order = (
    dist2_0 / sp.sqrt(K * N)
    + (K - 1) * (R + Sigma) / N
    + (1 / sp.sqrt(K * N) + K * c**2 / N) * (R + c * Sigma / M)
    + (W - 1) / sp.sqrt(K * N)
)

theorem = Theorem(
    source=Source(PAPER, "(42)", "Section 4.4"),
    title="Rate of FedFix",
    symbols=(*NOTATION, VISIT),
    metric=Metric.mean("gap", VALUE, rounds=N, expectation=OVER, scale=q_bar, surrogate=True),
    readings={
        "corrected": Reading(
            bound=(eps_F + eps_K + eps_alpha + eps_W).subs({alpha: 1, **AT_STEP}),  # eps_beta is 0
            belief=Belief.TRUE,
            algorithm=Algorithm("fedfix", ("eta_l", "eta_g"), any_value=("times", "dt", "batch")),
            choices={"eta_l": step},
            conditions=(
                STEP_98,
                NO_SERVER_STEP,
                WHOLE_PERIODS,
                Condition("alpha", sp.Eq(alpha, 1)),
                Condition("beta", sp.Eq(beta, 0), "who arrives in a round is certain"),
            ),
            assumptions=(*CORRECTED, window_property, bounded_gradients, plain_mean),
            replaces="the terms under O(.) by the corrected Theorem 3 with all its constants",
            why=f"{LOST_K}.",
            remark="For deterministic update times, where alpha = 1 and beta = 0. The O hides rho too, at most c.",
        ),
        "as_printed": Reading(
            bound=q_bar * eta_unit * B**2 * order,
            belief=Belief.FALSE,
            metric=Metric.formula(None, q_bar * K * step * (W - 1) * B**2),  # eps_W as printed, at this step size
            printed_rate=order,
            remark=f"Where the other terms vanish the sides are K to 1, so that no larger factor helps. {LOST_K}. The "
            "point x of its first term is theta*.",
        ),
    },
)
