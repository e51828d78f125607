"""(33): synchronous FedAvg at step sizes in proportion to 1/sqrt(KN).

The paper prints orders, with eta_g = 1 and eta_l = 1/sqrt(KN), so without units. The corrected reading is Corollary 1
at the step size eta_unit/sqrt(KN), without delays, with weights 1/M and all clients in every round (alpha = rho = 1 and
beta = 0). The printed one bounds the corrected bound by the printed terms, with the largest of the constants that the
order hides.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

rate = (eps_F + 36 * e * L * Sigma + 6 * et * Sigma / M).subs(AT_STEP)
order = dist2_0 / sp.sqrt(K * N) + (K - 1) * Sigma / N + Sigma / (M * sp.sqrt(K * N))

theorem = Theorem(
    source=Source(PAPER, "(33)", "Section 4.2"),
    title="Rate of synchronous FedAvg",
    symbols=NOTATION,
    metric=Metric.mean("gap", VALUE, rounds=N, expectation=OVER),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=rate,
            algorithm=Algorithm("fedavg_sync", ("eta_l", "eta_g"), any_value=("batch",)),
            choices={"eta_l": step},
            conditions=(
                STEP_98,
                NO_SERVER_STEP,
                Condition("no delay", sp.Eq(tau, 0)),
                Condition("everyone", sp.Eq(beta, 0), "all clients take part in every round"),
                Condition("weights", sp.Eq(rho, 1), "that sum to 1"),
            ),
            assumptions=(*CORRECTED, same_expected_weights, plain_mean),
            replaces="the terms under O(.) by the corrected Theorem 1 with all its constants",
            why="An order cannot be compared with a run. (K-1)^2/(KN) is at most (K-1)/N, so that it is the printed "
            "one.",
        ),
        "as_printed": Reading(
            bound=sp.Max(1 / eta_unit, 36 * L * eta_unit**2, 6 * eta_unit) * order,
            metric=Metric.formula(None, rate),
            printed_rate=order,
            remark="An order in K, N and M; the factor in front, of L and the unit of the step, is ours.",
        ),
    },
)
