"""Remarks 1 to 4, on the bounds of Theorems 1 and 2.

They do not depend on the partition or on the order of its blocks (1 and 3). Linear speed-up: the theorems at the step
size sqrt(m/K), and where their first term dominates (2 and 4).

Remarks 1 and 2 are about IID data, 3 and 4 about data that differ, the latter with p_i = 1/m.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

IID = (iid_clients, averages_as_objective, bounded_below)
step_printed = sp.sqrt(m / K)
step = eta_unit * sp.sqrt(m / K)

NO_PARTITION: dict[str, Any] = {
    "title": "The long-run mean squared gradient does not depend on the partition",
    "symbols": NOTATION,
    "metric": Metric.mean("grad2", GRADIENT2, index=K, expectation="the samples of all steps"),
    "kind": Kind.LIMSUP,
    "algorithm": BLOCK_AVERAGING,
}
SPEED_UP: dict[str, Any] = {
    "title": "The mean squared gradient at the step size eta = sqrt(m/K)",
    "symbols": (*NOTATION, HORIZON),
    "metric": Metric.mean("grad2", GRADIENT2, rounds=K, expectation="the samples of all steps"),
    "algorithm": BLOCK_AVERAGING,
    "printed_rate": 1 / sp.sqrt(m * K) + m / K,
}
FIRST_TERM: dict[str, Any] = {
    "title": "Iterations beyond which 1/sqrt(mK) exceeds m/K",
    "symbols": NOTATION,
    "metric": Metric.formula(ONE),
    "kind": Kind.FORMULA,
}

theorems = {
    "remark_1": Theorem(
        **NO_PARTITION,
        source=Source(PAPER, "Remark 1", "whatever the partition and the order of its blocks"),
        conditions=(
            Condition("step size", Lmax**2 * eta**2 * tau * (tau - 1) + eta * Lmax <= 1, "exactly eta*Lmax <= 1/tau"),
        ),
        readings={
            "corrected": Reading(
                symbols=GLOBAL,
                bound=eta / m * Lmax * sigma2 + eta**2 * (tau - 1) * Lmax**2 * sigma2,
                assumptions=(smooth_globally, block_variance, *IID),
                belief=Belief.TRUE,
                replaces="the constants L_j of the blocks by one constant L of the whole gradient",
                why="What is left of (4) as K grows, eta L sigma^2/m + eta^2 (tau-1) L^2 sigma^2, has no partition in "
                "it; the L_j and sigma_j^2 of (4) have.",
                remark="At a fixed step the mean squared gradient does not vanish. It does for steps that decrease "
                "with K, as Remark 2 has them.",
            ),
            "as_printed": Reading(
                bound=eta / m * sum_L_sigma2 + eta**2 * (tau - 1) * sum_L2_sigma2,
                assumptions=(smooth_blocks, block_variance, *IID),
                belief=Belief.FALSE,
                remark="With the constants of the blocks read block by block the long-run bound depends on the "
                "partition, and coupled blocks exceed it by a factor of up to tau/2.",
            ),
        },
    ),
    "remark_2": Theorem(
        **SPEED_UP,
        source=Source(PAPER, "Remark 2", "linear speed-up, eta = sqrt(m)/sqrt(K)"),
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
                assumptions=(smooth_weighted, block_variance, *IID),
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
                assumptions=(smooth_blocks, block_variance, *IID),
                belief=Belief.FALSE,
                remark="Theorem 1's terms at the printed step, whose order O(1/sqrt(mK)) + O(m/K) is what the remark "
                f"prints. {UNITS}. Theorem 1's step condition is not repeated. {COUPLED}.",
            ),
        },
    ),
    "remark_2_speedup": Theorem(
        **FIRST_TERM,
        source=Source(PAPER, "Remark 2", "linear speed-up: 'the first term dominates'"),
        bound=m**3,
        belief=Belief.TRUE,
        readings={
            "as_printed": Reading(
                remark="1/sqrt(mK) > m/K exactly when K > m^3, constants left out as in the remark; m = 128 needs "
                "2097152."
            )
        },
    ),
    "remark_3": Theorem(
        **NO_PARTITION,
        source=Source(PAPER, "Remark 3", "whatever the partition and the order of its blocks"),
        readings={
            "corrected": Reading(
                symbols=GLOBAL,
                bound=2 * eta * sum_p2 * Lmax * sigma2 + distance_terms_one_constant,
                conditions=(Condition("step size", eta * Lmax <= 1), INTERVAL),
                assumptions=ONE_CONSTANT,
                belief=Belief.TRUE,
                replaces="the constants L_j of the blocks by one constant L, and averages with 1/m by averages with "
                "p_i",
                why="What is left of Theorem 2 as K grows then has no partition in it.",
                remark="At a fixed step the mean squared gradient does not vanish.",
            ),
            "as_printed": Reading(
                bound=4 * eta * sum_p2 * sum_L_sigma2 + distance_terms,
                conditions=(Condition("step size", eta * Lmax <= sp.Rational(1, 2)), INTERVAL),
                assumptions=PRINTED,
                belief=Belief.FALSE,
                remark="Averages with 1/m do not even have the stationary points of F where the p_i differ, whatever "
                "the partition.",
            ),
        },
    ),
    "remark_4": Theorem(
        **SPEED_UP,
        source=Source(PAPER, "Remark 4", "linear speed-up, eta = sqrt(m)/sqrt(K)"),
        readings={
            "corrected": Reading(
                symbols=GLOBAL,
                bound=sp.expand(
                    (start_term + 2 * eta / m * Lmax * sigma2 + distance_terms_one_constant).subs(eta, step)
                ),
                choices={"eta": step},
                conditions=(
                    Condition("step size", step * Lmax <= 1),
                    Condition(INTERVAL.name, INTERVAL.relation.subs(eta, step)),
                ),
                assumptions=(*ONE_CONSTANT, plain_mean),
                belief=Belief.TRUE,
                replaces="the step sqrt(m/K) by eta_unit*sqrt(m/K), within Theorem 2's step condition, and Assumption "
                "1 by smoothness with one constant",
                why=f"{UNITS}. {COUPLED}.",
            ),
            "as_printed": Reading(
                bound=(start_term + 4 * eta / m * sum_L_sigma2 + distance_terms).subs(eta, step_printed),
                choices={"eta": step_printed},
                assumptions=(*PRINTED, plain_mean),
                belief=Belief.FALSE,
                remark=f"Theorem 2's terms, as the main text prints them, at the printed step. {UNITS}. Theorem 2's "
                f"step condition is not repeated. {COUPLED}.",
            ),
        },
    ),
    "remark_4_speedup": Theorem(
        **FIRST_TERM,
        source=Source(PAPER, "Remark 4", "linear speed-up: 'the first term dominates'"),
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
