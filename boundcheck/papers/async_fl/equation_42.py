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
step = eta_unit / sp.sqrt(K * N)  # eta_l, and with eta_g = 1 the effective step
h = K * step
e = step**2 * (K - 1) ** 2
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
    metric=Metric.mean(
        "gap", VALUE, rounds=N, expectation="participation, delays and gradients", scale=q_bar, surrogate=True
    ),
    readings={
        "corrected": Reading(
            bound=dist2_0 / (h * N)  # eps_F
            + (24 * e * L**2 * R + (12 * rho + 24) * e * L * S1)  # eps_K
            + (h + 16 * rho * L * (h * tau) ** 2) * (24 * rho * L * R + 6 * rho**2 * S2 / K)  # eps_alpha
            + q_bar * rho * h * (W - 1) * B**2,  # eps_W
            belief=Belief.TRUE,
            algorithm=Algorithm("fedfix", ("eta_l", "eta_g"), any_value=("times", "dt", "batch")),
            choices={"eta_l": step},
            conditions=(
                STEP_98,
                Condition("server step size", sp.Eq(eta_g, 1)),
                # R and the other means over rounds are those of whole periods, as in Theorem 1
                Condition("whole periods", sp.Eq(sp.floor(N / period), N / period)),
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
            metric=Metric.formula(None, q_bar * h * (W - 1) * B**2),  # eps_W as printed, at this step size
            printed_rate=order,
            remark=f"Where the other terms vanish the sides are K to 1, so that no larger factor helps. {LOST_K}. The "
            "point x of its first term is theta*.",
        ),
    },
)
