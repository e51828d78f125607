"""Values of the statements on partial model averaging, from the paper's text."""

from values.arithmetic import cbrt, floor, q, sqrt

POINTS = (
    "m=5 tau=3 d=11 eta=1/17 K=7 k=8 Lmax=7/3 sum_p2=2/9 sum_L_sigma2=13/6 sum_L2_sigma2=17/5 sum_L2_kappa2=19/7 "
    "gap_0=11/4 L2_discrepancy=5/8 sigma2=9/5 local_grad2=8/3 mean_grad2=15/7 beta2=5/2 kappa2=4/3 rounds=6 A=1/10 "
    "norm_A=3/2 norm2_b=7/4 norm2_x=25/3 norm2_mean=6/5 eta_unit=2/11 x_00=5/7 x_10=-3/4",
    "m=2 tau=4 d=9 eta=2/23 K=5 k=6 Lmax=3/7 sum_p2=3/11 sum_L_sigma2=2/5 sum_L2_sigma2=5/3 sum_L2_kappa2=7/6 "
    "gap_0=1/3 L2_discrepancy=9/4 sigma2=12/7 local_grad2=4/9 mean_grad2=7/8 beta2=8/5 kappa2=13/9 rounds=3 A=2/13 "
    "norm_A=5/6 norm2_b=11/3 norm2_x=23/2 norm2_mean=9/7 eta_unit=7/5 x_00=-8/5 x_10=10/3",
)


def iid(m, eta, K, tau, gap_0, sum_L_sigma2, sum_L2_sigma2):
    """Theorem 1, (4)."""
    return 2 * gap_0 / (eta * K) + eta / m * sum_L_sigma2 + eta**2 * (tau - 1) * sum_L2_sigma2


def non_iid(noise, eta, K, tau, gap_0, sum_L2_sigma2, sum_L2_kappa2):
    """Theorem 2 with its second term, which the main text and the appendix print differently, put in."""
    return (
        4 * gap_0 / (eta * K)
        + noise
        + 3 * eta**2 * (tau - 1) * sum_L2_sigma2
        + 6 * eta**2 * tau * (tau - 1) * sum_L2_kappa2
    )


def global_non_iid(eta, K, tau, Lmax, sum_p2, sigma2, kappa2, gap_0):
    """Theorem 2 as corrected, one smoothness constant for all blocks."""
    noise = 2 * eta * sum_p2 * Lmax * sigma2
    return non_iid(noise, eta, K, tau, gap_0, Lmax**2 * sigma2, Lmax**2 * kappa2)


def discrepancy(tau, eta, Lmax, sigma2, beta2, kappa2, mean_grad2):
    """Lemma 3, (74), summed over blocks that share one constant."""
    a = 2 * eta**2 * tau * (tau - 1) * Lmax**2
    return (eta**2 * (tau - 1) * sigma2 + a / Lmax**2 * (beta2 * mean_grad2 + kappa2)) / (1 - a)


def _until_k(K):
    return K


MEAN = {"metric rounds": _until_k, "metric weights": lambda: 1}
ONE_STEP = {"step size": lambda eta, Lmax: (eta * Lmax, "<=", 1)}
HALF_STEP = {"step size": lambda eta, Lmax: (eta * Lmax, "<=", q(1, 2))}
INTERVAL = {
    "step size and interval": lambda eta, Lmax, tau, beta2: (
        2 * eta**2 * Lmax**2 * tau * (tau - 1) * (2 * beta2 + 1),
        "<=",
        1,
    )
}
IID_STEP = {"step size": lambda eta, Lmax, tau: (Lmax**2 * eta**2 * tau * (tau - 1) + eta * Lmax, "<=", 1)}
SMALL_A = {"A below 1": lambda eta, Lmax, tau: (2 * eta**2 * tau * (tau - 1) * Lmax**2, "<", 1)}
LEMMA_3 = {**MEAN, **SMALL_A, "bound": discrepancy}
THEOREM_1 = {**MEAN, **IID_STEP, "bound": iid}
THEOREM_2_WEIGHTED = {
    **MEAN,
    **ONE_STEP,
    **INTERVAL,
    "bound": lambda tau, eta, K, sum_p2, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2, gap_0: non_iid(
        2 * eta * sum_p2 * sum_L_sigma2, eta, K, tau, gap_0, sum_L2_sigma2, sum_L2_kappa2
    ),
}
THEOREM_2_MAIN = {
    **MEAN,
    **HALF_STEP,
    **INTERVAL,
    "bound": lambda tau, eta, K, sum_p2, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2, gap_0: non_iid(
        4 * eta * sum_p2 * sum_L_sigma2, eta, K, tau, gap_0, sum_L2_sigma2, sum_L2_kappa2
    ),
}
THEOREM_2_APPENDIX = {
    **MEAN,
    **ONE_STEP,
    **INTERVAL,
    "bound": lambda m, tau, eta, K, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2, gap_0: non_iid(
        2 * eta / m * sum_L_sigma2, eta, K, tau, gap_0, sum_L2_sigma2, sum_L2_kappa2
    ),
}
SPEED_UP = {**MEAN, "rate": lambda m, K: 1 / sqrt(m * K) + m / K}
SMALL_EXAMPLE = {
    "workers": lambda m: (m, "==", 2),
    "blocks": lambda tau: (tau, "==", 2),
    "numbers": lambda d: (d, "==", 3),
}
SMALL_ROOT = {"A not negative": lambda A: (A, ">=", 0), "A small": lambda A, beta2: (A, "<=", 1 / (2 * beta2 + 1))}

VALUES = {
    "communication_cost/as_printed": {"bound": lambda d: d},
    "communication_messages/as_printed": {"no empty block": lambda d, tau: (d, ">=", tau), "bound": lambda tau: tau},
    "communication_messages/as_printed_periodic": {"bound": lambda: 1},
    "discrepancy_partial/derived": {
        "metric rounds": lambda k: k,
        "after the first period": lambda k, tau: (k, ">=", tau),
        "bound": lambda m, tau, eta, sigma2: sum(
            eta**2 * (sigma2 / tau) * (m - 1) / m * age for age in range(int(tau))
        ),
    },
    "discrepancy_periodic/derived": {
        "metric rounds": lambda k: k,
        "bound": lambda m, tau, eta, sigma2, k: (k - tau * floor(k / tau)) * eta**2 * sigma2 * (m - 1) / m,
    },
    "equation_11/corrected": {**SMALL_EXAMPLE, "bound": lambda: q(1, 2)},
    "equation_11/as_printed": {**SMALL_EXAMPLE, "bound": lambda: 0},
    "equation_12/as_printed": {"bound": lambda x_00, x_10: (x_00 + x_10) / 2},
    "lemma_1/corrected": {
        **MEAN,
        **ONE_STEP,
        "bound": lambda eta, K, sum_p2, sum_L_sigma2, gap_0, L2_discrepancy: (
            2 * gap_0 / (eta * K) + eta * sum_p2 * sum_L_sigma2 + L2_discrepancy
        ),
    },
    "lemma_1/as_printed": {
        **MEAN,
        **ONE_STEP,
        "bound": lambda m, eta, K, sum_L_sigma2, gap_0, L2_discrepancy: (
            2 * gap_0 / (eta * K) + eta / m * sum_L_sigma2 + L2_discrepancy
        ),
    },
    "lemma_2/as_printed": {
        **MEAN,
        "bound": lambda tau, eta, sigma2, local_grad2: (
            eta**2 * (tau - 1) * sigma2 + eta**2 * tau * (tau - 1) * local_grad2
        ),
    },
    "lemma_2/sharp": {
        **MEAN,
        "bound": lambda m, tau, eta, sigma2, local_grad2: (
            eta**2 * (tau - 1) * (sigma2 - sigma2 / m) + eta**2 * tau * (tau - 1) * local_grad2
        ),
    },
    "lemma_3/corrected": LEMMA_3,
    "lemma_3/as_printed_separable": LEMMA_3,
    "lemma_3/as_printed": LEMMA_3,
    "lemma_3/without_gradients": {
        **MEAN,
        **SMALL_A,
        **ONE_STEP,
        **INTERVAL,
        "bound": lambda K, Lmax, beta2, eta, gap_0, kappa2, sigma2, sum_p2, tau: discrepancy(
            tau, eta, Lmax, sigma2, beta2, kappa2, global_non_iid(eta, K, tau, Lmax, sum_p2, sigma2, kappa2, gap_0)
        ),
    },
    "matched_interval/general": {"bound": lambda tau, rounds: tau + tau / rounds},
    "matched_interval/as_printed": {
        "bound": lambda tau: tau + tau / 10,
        "whole interval": lambda tau: (floor(tau / 10), "==", tau / 10),
    },
    "matched_interval/as_printed_iterations": {
        "bound": lambda tau: 10 * tau + tau,
        "whole interval": lambda tau: (floor(tau / 10), "==", tau / 10),
    },
    "one_minus_a/corrected": {**SMALL_ROOT, "bound": lambda: q(3, 2)},
    "one_minus_a/sharp": {**SMALL_ROOT, "bound": lambda beta2: 1 + 1 / (2 * beta2)},
    "one_minus_a/as_printed": {**SMALL_ROOT, "bound": lambda: q(2, 3)},
    "other_lemma_1/as_printed": {"bound": lambda norm_A, norm2_b: norm_A**2 * norm2_b},
    "other_lemma_2/as_printed": {"bound": lambda norm2_x: norm2_x},
    "other_lemma_2/sharp": {"bound": lambda m, norm2_x, norm2_mean: norm2_x - m * norm2_mean},
    "property_1/as_printed": {"bound": lambda: 0},
    "property_2/as_printed": {"bound": lambda: 0},
    "property_3/as_printed": {"bound": lambda: 0},
    "property_4/grid": {"bound": lambda: 0},
    "property_4/as_printed": {"bound": lambda: 0, "several workers": lambda m: (m, ">=", 2)},
    "remark_1/corrected": {
        **MEAN,
        **IID_STEP,
        "bound": lambda m, tau, eta, Lmax, sigma2: eta * Lmax * sigma2 / m + eta**2 * (tau - 1) * Lmax**2 * sigma2,
    },
    "remark_1/as_printed": {
        **MEAN,
        **IID_STEP,
        "bound": lambda m, tau, eta, sum_L_sigma2, sum_L2_sigma2: (
            eta / m * sum_L_sigma2 + eta**2 * (tau - 1) * sum_L2_sigma2
        ),
    },
    "remark_2/corrected": {
        **SPEED_UP,
        "choice of eta": lambda eta_unit, m, K: eta_unit * sqrt(m / K),
        "iterations": lambda K, m, tau, Lmax, eta_unit: (K, ">=", m * tau**2 * (Lmax * eta_unit) ** 2),
        "bound": lambda m, tau, K, sum_L_sigma2, sum_L2_sigma2, gap_0, eta_unit: iid(
            m, eta_unit * sqrt(m / K), K, tau, gap_0, sum_L_sigma2, sum_L2_sigma2
        ),
    },
    "remark_2/as_printed": {
        **SPEED_UP,
        "choice of eta": lambda m, K: sqrt(m / K),
        "bound": lambda m, tau, K, sum_L_sigma2, sum_L2_sigma2, gap_0: iid(
            m, sqrt(m / K), K, tau, gap_0, sum_L_sigma2, sum_L2_sigma2
        ),
    },
    "remark_2_speedup/as_printed": {"bound": lambda m: m**3},
    "remark_3/corrected": {
        **MEAN,
        **ONE_STEP,
        **INTERVAL,
        "bound": lambda tau, eta, Lmax, sum_p2, sigma2, kappa2: global_non_iid(
            eta, 1, tau, Lmax, sum_p2, sigma2, kappa2, 0
        ),
    },
    "remark_3/as_printed": {
        **MEAN,
        **HALF_STEP,
        **INTERVAL,
        "bound": lambda tau, eta, sum_p2, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2: non_iid(
            4 * eta * sum_p2 * sum_L_sigma2, eta, 1, tau, 0, sum_L2_sigma2, sum_L2_kappa2
        ),
    },
    "remark_4/corrected": {
        **SPEED_UP,
        "choice of eta": lambda eta_unit, m, K: eta_unit * sqrt(m / K),
        "step size": lambda eta_unit, m, K, Lmax: (eta_unit * sqrt(m / K) * Lmax, "<=", 1),
        "step size and interval": lambda eta_unit, m, K, Lmax, tau, beta2: (
            2 * eta_unit**2 * m / K * Lmax**2 * tau * (tau - 1) * (2 * beta2 + 1),
            "<=",
            1,
        ),
        "bound": lambda m, tau, K, Lmax, sigma2, kappa2, gap_0, eta_unit: global_non_iid(
            eta_unit * sqrt(m / K), K, tau, Lmax, 1 / m, sigma2, kappa2, gap_0
        ),
    },
    "remark_4/as_printed": {
        **SPEED_UP,
        "choice of eta": lambda m, K: sqrt(m / K),
        "bound": lambda m, tau, K, sum_L_sigma2, sum_L2_sigma2, sum_L2_kappa2, gap_0: non_iid(
            4 * sqrt(m / K) / m * sum_L_sigma2, sqrt(m / K), K, tau, gap_0, sum_L2_sigma2, sum_L2_kappa2
        ),
    },
    "remark_4_speedup/corrected": {"bound": lambda m: m**3},
    "remark_4_speedup/as_printed": {"bound": lambda m: cbrt(m)},
    "step_condition/factored": {"bound": lambda tau, Lmax: 1 / (tau * Lmax)},
    "step_condition/as_printed": {
        "bound": lambda tau, Lmax: (sqrt(1 + 4 * tau * (tau - 1)) - 1) / (2 * tau * (tau - 1) * Lmax)
    },
    "theorem_1/corrected": THEOREM_1,
    "theorem_1/global": {
        **MEAN,
        **IID_STEP,
        "bound": lambda m, tau, eta, K, Lmax, sigma2, gap_0: (
            2 * gap_0 / (eta * K) + eta * Lmax * sigma2 / m + eta**2 * (tau - 1) * Lmax**2 * sigma2
        ),
    },
    "theorem_1/separable": THEOREM_1,
    "theorem_1/as_printed": THEOREM_1,
    "theorem_2/corrected": {**MEAN, **ONE_STEP, **INTERVAL, "bound": global_non_iid},
    "theorem_2/weighted": THEOREM_2_WEIGHTED,
    "theorem_2/separable": THEOREM_2_WEIGHTED,
    "theorem_2/as_printed_main": THEOREM_2_MAIN,
    "theorem_2/as_printed_main_separable": THEOREM_2_MAIN,
    "theorem_2/as_printed_appendix": THEOREM_2_APPENDIX,
    "theorem_2/as_printed_appendix_separable": THEOREM_2_APPENDIX,
}

# the other side of claims about numbers, and the data behind their symbols
VALUES["equation_12/as_printed"] |= {"value": lambda x_00, x_10: x_10 / 2 + x_00 / 2}
VALUES["matched_interval/as_printed"] |= {
    "value": lambda interval: interval,
    "where tau": lambda interval: 10 * interval / 11,
}
VALUES["matched_interval/as_printed_iterations"] |= {
    "value": lambda interval: 10 * interval,
    "where tau": lambda interval: 10 * interval / 11,
}
VALUES["matched_interval/general"] |= {
    "value": lambda interval: interval,
    "where tau": lambda rounds, interval: rounds * interval / (rounds + 1),
}


def _norm_A(a_11, a_12, a_21, a_22):
    """The root of the larger eigenvalue of A'A = [[u, v], [v, w]]."""
    u, v, w = a_11**2 + a_21**2, a_11 * a_12 + a_21 * a_22, a_12**2 + a_22**2
    return sqrt((u + w + sqrt((u - w) ** 2 + 4 * v**2)) / 2)


VALUES["other_lemma_1/as_printed"] |= {
    "value": lambda a_11, a_12, a_21, a_22, b_1, b_2: (a_11 * b_1 + a_12 * b_2) ** 2 + (a_21 * b_1 + a_22 * b_2) ** 2,
    "where norm_A": _norm_A,
    "where norm2_b": lambda b_1, b_2: b_1**2 + b_2**2,
}
_TWO = {
    "value": lambda x_1, x_2, x_3: ((x_1 - x_2) ** 2 + (x_2 - x_3) ** 2 + (x_3 - x_1) ** 2) / 3,
    "where norm2_x": lambda x_1, x_2, x_3: x_1**2 + x_2**2 + x_3**2,
    "where norm2_mean": lambda x_1, x_2, x_3: (x_1 + x_2 + x_3) ** 2 / 9,
    "where m": lambda: 3,
}
VALUES["other_lemma_2/as_printed"] |= _TWO
VALUES["other_lemma_2/sharp"] |= _TWO
