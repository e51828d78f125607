"""Remark 2: linear speed-up on IID data, Theorem 1 at the step size sqrt(m/K), and where its first term dominates."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

step_printed = sp.sqrt(m / K)
step = eta_unit * sp.sqrt(m / K)

theorems = {
    "remark_2": Theorem(
        source=Source(PAPER, "Remark 2", "linear speed-up, eta = sqrt(m)/sqrt(K)"),
        title="The mean squared gradient at the step size eta = sqrt(m/K)",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.mean("grad2", GRADIENT2, rounds=K, expectation="the samples of all steps"),
        algorithm=Algorithm("block_averaging", ("tau", "eta"), any_value=("partition", "order")),
        printed_rate=1 / sp.sqrt(m * K) + m / K,
        readings={
            "corrected": Reading(
                symbols=WEIGHTED,
                bound=2 * gap_0 / (step * K) + step / m * sum_L_sigma2 + step**2 * (tau - 1) * sum_L2_sigma2,
                choices={"eta": step},
                conditions=(
                    Condition(
                        "iterations",
                        sp.Ge(K, m * tau**2 * (Lmax * eta_unit) ** 2),
                        "Theorem 1's step condition at this step; not printed",
                    ),
                ),
                assumptions=(smooth_weighted, block_variance, iid_clients, averages_as_objective, bounded_below),
                belief=Belief.TRUE,
                replaces="the step sqrt(m/K) by eta_unit*sqrt(m/K), for K at least m tau^2 (Lmax eta_unit)^2, and "
                "Assumption 1 by a Lipschitz condition with the weights L_j",
                why=f"{UNITS}. The theorem asks for eta Lmax <= 1/tau. {COUPLED}.",
            ),
            "as_printed": Reading(
                bound=2 * gap_0 / (step_printed * K)
                + step_printed / m * sum_L_sigma2
                + step_printed**2 * (tau - 1) * sum_L2_sigma2,
                choices={"eta": step_printed},
                assumptions=(smooth_blocks, block_variance, iid_clients, averages_as_objective, bounded_below),
                belief=Belief.FALSE,
                remark="Theorem 1's terms at the printed step, whose order O(1/sqrt(mK)) + O(m/K) is what the remark "
                f"prints. {UNITS}. Theorem 1's step condition is not repeated. {COUPLED}.",
            ),
        },
    ),
    "remark_2_speedup": Theorem(
        source=Source(PAPER, "Remark 2", "linear speed-up: 'the first term dominates'"),
        title="Iterations beyond which 1/sqrt(mK) exceeds m/K",
        symbols=NOTATION,
        metric=Metric.formula(ONE),
        kind=Kind.FORMULA,
        bound=m**3,
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                remark="1/sqrt(mK) > m/K exactly when K > m^3, constants left out as in the remark; m = 128 needs "
                "2097152."
            )
        },
    ),
}
