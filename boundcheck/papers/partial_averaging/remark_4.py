"""Remark 4: linear speed-up on non-IID data with p_i = 1/m, Theorem 2 at sqrt(m/K); where the first term dominates."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

step_printed = sp.sqrt(m / K)
step = eta_unit * sp.sqrt(m / K)

theorems = {
    "remark_4": Theorem(
        source=Source(PAPER, "Remark 4", "linear speed-up, eta = sqrt(m)/sqrt(K)"),
        title="The mean squared gradient at the step size eta = sqrt(m/K)",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.mean("grad2", GRADIENT2, rounds=K, expectation="the samples of all steps"),
        algorithm=Algorithm("block_averaging", ("tau", "eta"), any_value=("partition", "order")),
        printed_rate=1 / sp.sqrt(m * K) + m / K,
        readings={
            "corrected": Reading(
                symbols=GLOBAL,
                bound=sp.expand(
                    4 * gap_0 / (step * K)
                    + 2 * step / m * Lmax * sigma2
                    + 3 * step**2 * (tau - 1) * Lmax**2 * sigma2
                    + 6 * step**2 * tau * (tau - 1) * Lmax**2 * kappa2
                ),
                choices={"eta": step},
                conditions=(
                    Condition("step size", step * Lmax <= 1),
                    Condition(
                        "step size and interval", 2 * tau * (tau - 1) * (2 * beta2 + 1) * (step * Lmax) ** 2 <= 1
                    ),
                ),
                assumptions=(*ONE_CONSTANT, plain_mean),
                belief=Belief.TRUE,
                replaces="the step sqrt(m/K) by eta_unit*sqrt(m/K), within Theorem 2's step condition, and Assumption "
                "1 by smoothness with one constant",
                why=f"{UNITS}. {COUPLED}.",
            ),
            "as_printed": Reading(
                bound=4 * gap_0 / (step_printed * K)
                + 4 * step_printed / m * sum_L_sigma2
                + 3 * step_printed**2 * (tau - 1) * sum_L2_sigma2
                + 6 * step_printed**2 * tau * (tau - 1) * sum_L2_kappa2,
                choices={"eta": step_printed},
                assumptions=(*PRINTED, plain_mean),
                belief=Belief.FALSE,
                remark=f"Theorem 2's terms, as the main text prints them, at the printed step. {UNITS}. Theorem 2's "
                f"step condition is not repeated. {COUPLED}.",
            ),
        },
    ),
    "remark_4_speedup": Theorem(
        source=Source(PAPER, "Remark 4", "linear speed-up: 'the first term dominates'"),
        title="Iterations beyond which 1/sqrt(mK) exceeds m/K",
        symbols=NOTATION,
        metric=Metric.formula(ONE),
        kind=Kind.FORMULA,
        readings={
            "corrected": Reading(
                bound=m**3,
                belief=Belief.TRUE,
                replaces="K^3 > m by K > m^3",
                why="1/sqrt(mK) > m/K exactly when K > m^3, as Remark 2 says of the same rate.",
            ),
            "as_printed": Reading(
                bound=sp.cbrt(m),
                belief=Belief.FALSE,
                remark="Printed as K^3 > m. For m = 128 and K = 6 that holds, but m/K = 21.3 and 1/sqrt(mK) = 0.036.",
            ),
        },
    ),
}
