"""Values of the lemmas, examples and tables on asynchronous federated learning, from the paper's text."""

from values.arithmetic import ceil, floor, q, sqrt
from values.async_fl import (
    BETA,
    CORRECTED,
    ONE_SERVER_STEP,
    OPEN_ALPHA,
    PERIODIC,
    STEP_98,
    residual_1,
    share,
    step_98,
    work,
)

ALPHA = {"alpha": lambda alpha: (alpha, "<=", 1)}
DRIFT = {"drift": lambda K, L, eta_l: (work(K, L, eta_l), "<=", q(1, 2))}


def _simple(whole_rounds):
    """(97): its second condition on the step et, or on the step K et of a round."""
    found = {
        "local work": lambda K, L, eta_l: (48 * eta_l**2 * (K - 1) ** 2 * L**2, "<=", 1),
        "delay": lambda K, L, eta_g, eta_l, rho, tau: (
            2304 * rho**3 * (eta_g * eta_l) ** 2 * K**2 * tau**2 * L**2,
            "<=",
            1,
        ),
    }
    if whole_rounds:
        return {
            **found,
            "step": lambda K, L, eta_g, eta_l, rho: (144 * rho**2 * K * eta_g * eta_l * L, "<=", 1),
            "beta": lambda beta, rho: (beta, "<=", rho),
        }
    return {
        **found,
        "step": lambda L, eta_g, eta_l, rho: (144 * rho**2 * eta_g * eta_l * L, "<=", 1),
        "beta": lambda beta: (beta, "<=", 1),
    }


def printed_share(K, L, alpha, beta, eta_g, eta_l, rho, tau):
    """What (92) takes off 2, with the printed powers of et."""
    et = eta_g * eta_l
    bracket = et + 16 * rho * L * et**2 * K**2 * tau**2
    return 24 * eta_l**2 * (K - 1) ** 2 * L**2 + 12 * rho * (2 * alpha + beta) * bracket * L


def whole_share(K, L, alpha, beta, eta_g, eta_l, rho, tau):
    """The same with the step of a round."""
    return share(L, K, eta_l, K * eta_g * eta_l, rho, alpha, beta, tau)


def _worst(steps, drift, back, K, L, alpha, beta, eta_g, eta_l, rho, tau):
    """The list of Appendix A.5, every right side 1; steps: how many of them the single powers of the step count."""
    once = steps * eta_g * eta_l * L
    moved = (K * eta_g * eta_l * tau * L) ** 2
    pair = alpha + beta
    return max(
        2 * drift, 24 * rho**2 * pair * moved, 3 * rho * pair * once, back, 3 * rho**2 * once, 48 * rho**3 * moved
    )


def worst_of_a_round(K, L, alpha, beta, eta_g, eta_l, rho, tau):
    back = whole_share(K, L, alpha, beta, eta_g, eta_l, rho, tau)
    return _worst(K, work(K, L, eta_l), back, K, L, alpha, beta, eta_g, eta_l, rho, tau)


def worst_as_printed(K, L, alpha, beta, eta_g, eta_l, rho, tau):
    back = printed_share(K, L, alpha, beta, eta_g, eta_l, rho, tau)
    return _worst(1, work(K, L, eta_l), back, K, L, alpha, beta, eta_g, eta_l, rho, tau)


def _allowed(steps, K, L, alpha, beta, eta_g, rho, tau):
    """The list solved for eta_l; (92) is a*x^2 + b*x <= 1 in x = eta_l."""
    a = 24 * (K - 1) ** 2 * L**2 + 12 * rho * (2 * alpha + beta) * L * 16 * rho * L * (K * eta_g * tau) ** 2
    b = 12 * rho * (2 * alpha + beta) * L * steps * eta_g
    ends = [2 / (b + sqrt(b**2 + 4 * a)), 1 / (3 * rho**2 * steps * eta_g * L)]
    ends += [1 / (3 * rho * (alpha + beta) * steps * eta_g * L), 1 / (sqrt(48) * rho * sqrt(rho) * K * eta_g * tau * L)]
    return min(*ends, 1 / (sqrt(12) * (K - 1) * L), 1 / (sqrt(24 * (alpha + beta)) * rho * K * eta_g * tau * L))


def allowed_of_a_round(K, L, alpha, beta, eta_g, rho, tau):
    return _allowed(K, K, L, alpha, beta, eta_g, rho, tau)


def allowed_as_printed(K, L, alpha, beta, eta_g, rho, tau):
    return _allowed(1, K, L, alpha, beta, eta_g, rho, tau)


def step_97(K, L, eta_g, rho, tau):
    """The three conditions of (97), for whole rounds, solved for eta_l."""
    return min(
        1 / (sqrt(48) * (K - 1) * L),
        1 / (144 * rho**2 * eta_g * K * L),
        1 / (48 * rho * sqrt(rho) * eta_g * K * tau * L),
    )


def going(K, eta_l, eta_g):
    """eta_g phi: the share of the way to a client's minimiser that the server goes."""
    return eta_g * (1 - (1 - eta_l) ** int(K))


def radius(K, eta_l, eta_g):
    """Largest modulus of the roots of r^2 - r + eta_g phi."""
    phi = going(K, eta_l, eta_g)
    return sqrt(phi) if 4 * phi > 1 else (1 + sqrt(1 - 4 * phi)) / 2


def _even(K, eta_l, eta_g, q_1, q_2, theta_1, theta_2):
    a, b = going(K, eta_l, eta_g) * q_1, going(K, eta_l, eta_g) * q_2
    return (a * theta_1 + b * theta_2 + a * b * theta_2) / (a + b + a * b)


def _odd(K, eta_l, eta_g, q_1, q_2, theta_1, theta_2):
    a, b = going(K, eta_l, eta_g) * q_1, going(K, eta_l, eta_g) * q_2
    return (a * theta_1 + b * theta_2 + a * b * theta_1) / (a + b + a * b)


TURNS = {
    "product": lambda K, eta_l, eta_g, q_1, q_2: (going(K, eta_l, eta_g) ** 2 * q_1 * q_2, "<", 1),
    "steps": lambda K, eta_l, eta_g, q_1, q_2: (
        (1 - going(K, eta_l, eta_g) * q_1) * (1 - going(K, eta_l, eta_g) * q_2),
        ">",
        -1,
    ),
}
DELAYS = {
    "delays": lambda K, L, alpha, beta, eta_g, eta_l, rho, tau: (
        12 * rho**2 * (alpha + beta) * (eta_g * eta_l) ** 2 * K**2 * tau**2 * L**2,
        "<=",
        q(1, 2),
    )
}


ALIKE = {"F0": lambda tau_0, tau_M: (tau_0, "==", tau_M)}


def _gamma(alpha, d, q_i):
    return q_i * (d - alpha * q_i)


ROUND_N = {"metric rounds": lambda n: n}
INNER = {**ROUND_N, "metric scale": lambda: -2}


def _constant(number):
    return {"bound": lambda: number}


VALUES = {
    "equation_35/as_printed": {"bound": lambda nu, rate_sum: nu * rate_sum},
    "equation_36/as_printed": {"bound": lambda tau_i, rate_sum, d_i: d_i / (tau_i * rate_sum)},
    "equation_40/as_printed": {"bound": lambda tau_i, p_i, dt: ceil(tau_i / dt) * p_i},
    "equation_96/corrected": {"bound": residual_1},
    "equation_96/as_printed": {"bound": lambda L, R, Sigma: 4 * L * R + 2 * Sigma},
    "equation_96_second/corrected": {
        "bound": lambda L, R, Sigma, q_max, q_min: min(1, q_max / q_min) * residual_1(L, R, Sigma, q_min)
    },
    "equation_96_second/as_printed": {"bound": lambda L, R, Sigma, q_max: q_max * (4 * L * R + 2 * Sigma)},
    "equation_97/corrected": {**_simple(True), **_constant(1), "value": whole_share},
    "equation_97/as_printed": {**_simple(False), **_constant(1), "value": printed_share},
    "equation_97_constraints/corrected": {**_simple(True), **ALPHA, **_constant(1), "value": worst_of_a_round},
    "equation_97_constraints/as_printed": {**_simple(False), **ALPHA, **_constant(1), "value": worst_as_printed},
    "equation_98/corrected": {**BETA, "bound": step_98, "value": allowed_of_a_round},
    "equation_98/as_printed": {"bound": step_98, "value": allowed_as_printed},
    "equation_98/sharp": {"beta": lambda beta, rho: (beta, "<=", rho), "bound": step_97, "value": allowed_of_a_round},
    "equation_98_constraints/corrected": {**CORRECTED, **ALPHA, **_constant(1), "value": worst_of_a_round},
    "equation_98_constraints/as_printed": {
        **STEP_98,
        **ALPHA,
        "beta": lambda beta: (beta, ">=", 0),
        **_constant(1),
        "value": worst_as_printed,
    },
    "example_1/corrected": {
        "metric rounds": lambda n: n,
        "forward": lambda K, eta_l, eta_g: (going(K, eta_l, eta_g), ">", 0),
        "not too far": lambda K, eta_l, eta_g: (going(K, eta_l, eta_g), "<", 1),
        **_constant(0),
    },
    "example_1/as_printed": {
        "metric rounds": lambda n: n,
        "local steps converge": lambda eta_l: (eta_l, "<", 2),
        **ONE_SERVER_STEP,
        **_constant(0),
    },
    "example_1_radius/corrected": {"bound": radius, "more points": ("K=16 eta_l=9/4",)},
    "example_1_recursion/corrected": {
        "bound": lambda eta_g, theta_opt, theta_n1, theta_n, phi: theta_n1 + eta_g * phi * (theta_opt - theta_n)
    },
    "example_1_recursion/as_printed": {
        "bound": lambda theta_opt, theta_n1, theta_n, phi: theta_n1 + phi * (theta_opt - theta_n)
    },
    "example_2/corrected": {**TURNS, "metric rounds": lambda j: 2 * j, "bound": _even},
    "example_2/corrected_odd": {**TURNS, "metric rounds": lambda j: 2 * j + 1, "bound": _odd},
    "example_2/as_printed": {
        **TURNS,
        "metric rounds": lambda j: j,
        "bound": lambda q_1, q_2, theta_1, theta_2: (q_1 * theta_1 + q_2 * theta_2) / (q_1 + q_2),
    },
    "lemma_1/corrected": {"bound": lambda alpha, own, together: own + alpha * together},
    "lemma_1/as_printed": {**OPEN_ALPHA, "bound": lambda alpha, own, together: own + alpha * together},
    "lemma_1_gamma/corrected": {"domain": ("q_i <= d",), "bound": _gamma},
    "lemma_1_gamma/as_printed": {
        "domain": ("q_i <= d",),
        "never decides": ("0",),  # alpha is at most 1
        "more points": ("d=5/4",),
        "bound": _gamma,
    },
    "lemma_1_jensen/corrected": {"bound": lambda together, single: together - single},
    "lemma_1_jensen/as_printed": {"bound": lambda together, qt_max: (1 - qt_max) * together},
    "lemma_2/corrected": {
        **ROUND_N,
        "bound": lambda K, eta_l, eta_g, alpha, beta, q, inner, Rn, Sn: (
            -2 * K * eta_g * eta_l * inner + (K * eta_g * eta_l) ** 2 * (alpha * q**2 * Rn + beta * q * Sn)
        ),
    },
    "lemma_2/as_printed": {
        **ROUND_N,
        "metric scale": lambda K: q(1, 1) / K,
        "bound": lambda eta_l, eta_g, alpha, beta, q, inner, Rn, Sn: (
            -2 * eta_g * eta_l * inner + (eta_g * eta_l) ** 2 * alpha * q**2 * Rn + (eta_g * eta_l) ** 2 * beta * q * Sn
        ),
    },
    "lemma_3/corrected": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, sg1: (
            4 * tau * Qs + 4 * work(K, L, eta_l) / (L * q) * Z + 12 * eta_l**2 * (K - 1) ** 2 * sg1
        ),
    },
    "lemma_3/as_printed": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, sg1: (
            4 * q * tau * Qs + 4 * work(K, L, eta_l) / (L * q) * Z + 6 * eta_l**2 * (K - 1) ** 2 * sg1
        ),
    },
    "lemma_3_gradients/corrected": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, tau, q, Qs, Z, sg1: 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
    },
    "lemma_3_gradients/as_printed": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, tau, q, Qs, Z, sg1: 12 * q * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
    },
    "lemma_4/corrected": {
        **INNER,
        **DRIFT,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, Xi, sg1: (
            -2 * Xi + 4 * L * q * tau * Qs + 4 * work(K, L, eta_l) * Z + 12 * eta_l**2 * (K - 1) ** 2 * q * L * sg1
        ),
    },
    "lemma_4/as_printed": {
        **INNER,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, Xi, sg1: (
            -2 * Xi + 4 * L * q * tau * Qs + 4 * work(K, L, eta_l) * Z + 6 * eta_l**2 * (K - 1) ** 2 * q * L * sg1
        ),
    },
    "lemma_5/corrected": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, sg1, sg2: (
            12 * L**2 * tau * Qs + 24 * L * Z / q + 6 * work(K, L, eta_l) * sg1 + 6 * sg2 / K
        ),
    },
    "lemma_5/as_printed": {
        **ROUND_N,
        **DRIFT,
        "bound": lambda L, K, eta_l, tau, q, Qs, Z, sg1, sg2: (
            12 * L**2 * tau * Qs + 24 * L * Z / q + 3 * work(K, L, eta_l) * sg1 + 6 * sg2
        ),
    },
    "lemma_6/corrected": {
        **PERIODIC,
        **DRIFT,
        **DELAYS,
        "bound": lambda L, K, eta_l, eta_g, rho, alpha, beta, S1, S2, Z_mean: (
            (K * eta_g * eta_l) ** 2
            * (
                24 * rho * (2 * alpha + beta) * L * Z_mean
                + 6 * rho**2 * (2 * alpha * work(K, L, eta_l) + 2 * beta) * S1
                + 12 * rho**2 * alpha * S2 / K
            )
        ),
    },
    "lemma_6/as_printed": {
        **PERIODIC,
        **DELAYS,
        "bound": lambda L, K, eta_l, eta_g, rho, alpha, beta, S1, S2, Z_mean: (
            (K * eta_g * eta_l) ** 2
            * (
                24 * rho * (2 * alpha + beta) * L * Z_mean
                + 6 * rho**2 * (alpha * work(K, L, eta_l) + 2 * beta) * S1
                + 12 * rho**2 * alpha * S2
            )
        ),
    },
    "lemma_7/as_printed": {
        "bound": lambda L, q, chi2_n, gap_n, spread_n, absent: 4 * L * chi2_n * (gap_n + spread_n) / q + 4 * L * absent
    },
    "section_5_f80/as_printed_times": {"domain": ("X < 100",), "bound": lambda X: 1 / (1 - X / 100)},
    "section_5_f80/as_printed_slower": {"domain": ("X < 100",), "bound": lambda X: 1 + X / 100},
    "section_5_fedfix_f0/corrected": {
        **ALIKE,
        "bound": lambda eta_g, tau_M, dt: ceil(tau_M / dt) * eta_g,
        "metric scale": lambda eta_g: eta_g,
    },
    "section_5_fedfix_f0/as_printed": {
        **ALIKE,
        "FedFix-0.5": lambda dt, tau_M: (dt, "==", tau_M / 2),
        "bound": lambda eta_g: 2 * eta_g,
        "metric scale": lambda eta_g: eta_g,
    },
    "table_2_async_alpha/as_printed": _constant(0),
    "table_2_async_beta/corrected": {"bound": lambda M, p_max, tau_M, tau_0: M * p_max * tau_M / tau_0},
    "table_2_async_beta/as_printed": {"bound": lambda tau_M, tau_0: tau_M / tau_0},
    "table_2_async_residual/as_printed": {"bound": lambda F_het: F_het},
    "table_2_async_rounds/as_printed": {"bound": lambda T, rate_sum: T * rate_sum},
    "table_2_async_tau/corrected": {"bound": lambda tau_M, tau_0, M: (M - 1) * ceil(tau_M / tau_0)},
    "table_2_async_tau/sharp": {"bound": lambda updates: updates},
    "table_2_async_tau/as_printed": {"bound": lambda tau_M, tau_0, M: tau_M / tau_0 * (M - 1)},
    "table_2_async_window/corrected": {"bound": lambda tau_M, M: M * tau_M ** int(M - 1)},
    "table_2_async_window/as_printed": {"bound": lambda tau_M, M: M * tau_M ** int(M)},
    "table_2_centralised_alpha/as_printed": _constant(1),
    "table_2_centralised_beta/as_printed": _constant(0),
    "table_2_centralised_tau/corrected": _constant(0),
    "table_2_centralised_tau/as_printed": _constant(1),
    "table_2_fedfix_alpha/as_printed": _constant(1),
    "table_2_fedfix_beta/corrected": {"bound": lambda d_i, chance: d_i * (1 - chance)},
    "table_2_fedfix_beta/as_printed": _constant(0),
    "table_2_fedfix_residual/as_printed": {"bound": lambda F_het: F_het},
    "table_2_fedfix_rounds/as_printed": {"bound": lambda T, dt: T / dt},
    "table_2_fedfix_tau/corrected": {"bound": lambda tau_M, dt: ceil(tau_M / dt) - 1},
    "table_2_fedfix_tau/as_printed": {"bound": lambda tau_M, tau_0: floor(tau_M / tau_0)},
    "table_2_fedfix_tau/as_printed_text": {"bound": lambda tau_M, dt: ceil(tau_M / dt)},
    "table_2_fedfix_window/corrected": {"bound": lambda tau_M, dt, M: ceil(tau_M / dt) ** int(M)},
    "table_2_fedfix_window/sharp": {"bound": lambda visits_lcm: visits_lcm},
    "table_2_fedfix_window/as_printed": {"bound": lambda tau_M, tau_0, M: M * ceil(tau_M / tau_0) ** int(M)},
    "table_2_md_alpha/as_printed": {"bound": lambda m: 1 - 1 / m},
    "table_2_md_beta/as_printed": {"bound": lambda m: 1 / m},
    "table_2_sync_alpha/as_printed": _constant(1),
    "table_2_sync_beta/as_printed": _constant(0),
    "table_2_sync_residual/as_printed": _constant(0),
    "table_2_sync_rounds/as_printed": {"bound": lambda T, tau_M: T / tau_M},
    "table_2_sync_tau/as_printed": _constant(0),
    "table_2_sync_window/as_printed": _constant(1),
    "table_2_uniform_alpha/as_printed": {
        "domain": ("m <= M", "M >= 2"),
        "bound": lambda M, m: M * (m - 1) / (m * (M - 1)),
    },
    "table_2_uniform_beta/as_printed": {
        "domain": ("m <= M", "M >= 2"),
        "bound": lambda M, m, p_max: p_max * (M / m - M * (m - 1) / (m * (M - 1))),
    },
    "weights_time_based/as_printed": {"bound": lambda tau_i, p_i, rate_sum: rate_sum * tau_i * p_i},
}

# --- the other side of claims about numbers, and the data behind their symbols --------------------------------------


def _three_steps(model, optimum, eta_l):
    return optimum + (1 - eta_l) ** 3 * (model - optimum)


def _next(eta_g, eta_l, theta_n, theta_n1, first, second):
    went = _three_steps(theta_n, first, eta_l) + _three_steps(theta_n, second, eta_l) - 2 * theta_n
    return theta_n1 + eta_g * went / 2


def _modulus(t):
    """Of the larger of two roots with the sum 1, a distance 2t apart, or conjugate with imaginary parts t."""
    return q(1, 2) + t if t > 0 else sqrt(q(1, 4) + t**2)


def _distance2(L, x, s_1, s_2, r_1, r_2, r_3, k_1, k_2, k_3, o_1, o_2, o_3):
    ours = r_1 * k_1 * (x - o_1) + r_2 * k_2 * (x - o_2) + r_3 * k_3 * (x - o_3)
    theirs = (s_1 * k_1 * (x - o_1) + s_2 * k_2 * (x - o_2)) / (s_1 + s_2)
    return L**2 * (ours - theirs) ** 2


def _least(L, s_1, s_2, k_1, k_2, o_1, o_2):
    """The value at the minimiser of s_1 F_1 + s_2 F_2."""
    at = (s_1 * k_1 * o_1 + s_2 * k_2 * o_2) / (s_1 * k_1 + s_2 * k_2)
    return L * (s_1 * k_1 * (at - o_1) ** 2 + s_2 * k_2 * (at - o_2) ** 2) / 2


NUMBERS = {
    "example_1_radius/corrected": {
        "value": _modulus,
        "where eta_g": lambda K, eta_l, t: (q(1, 4) - (t * t if t > 0 else -t * t)) / (1 - (1 - eta_l) ** int(K)),
    },
    "example_1_recursion/corrected": {
        "value": _next,
        "where phi": lambda eta_l: 1 - (1 - eta_l) ** 3,
        "where theta_opt": lambda first, second: (first + second) / 2,
    },
    "example_1_recursion/as_printed": {
        "value": lambda eta_l, theta_n, theta_n1, first, second: _next(1, eta_l, theta_n, theta_n1, first, second),
        "where phi": lambda eta_l: 1 - (1 - eta_l) ** 3,
        "where theta_opt": lambda first, second: (first + second) / 2,
    },
    **{
        f"lemma_1_gamma/{reading}": {
            "value": lambda alpha, chance, d: chance * d * (d - alpha * chance * d),
            "where q_i": lambda chance, d: chance * d,
        }
        for reading in ("corrected", "as_printed")
    },
    **{
        f"lemma_1_jensen/{reading}": {
            "value": lambda q_1, q_2, x_1, x_2: q_1 * q_2 * x_1 * x_2 + q_2 * q_1 * x_2 * x_1,
            "where together": lambda q_1, q_2, x_1, x_2: (q_1 * x_1 + q_2 * x_2) ** 2,
            "where single": lambda q_1, q_2, x_1, x_2: q_1**2 * x_1**2 + q_2**2 * x_2**2,
            "where qt_max": lambda q_1, q_2: max(q_1 / (q_1 + q_2), q_2 / (q_1 + q_2)),
        }
        for reading in ("corrected", "as_printed")
    },
    "lemma_7/as_printed": {
        "value": _distance2,
        "where q": lambda s_1, s_2: s_1 + s_2,
        "where chi2_n": lambda r_1, r_2, s_1, s_2: (
            (r_1 - s_1 / (s_1 + s_2)) ** 2 / (s_1 / (s_1 + s_2)) + (r_2 - s_2 / (s_1 + s_2)) ** 2 / (s_2 / (s_1 + s_2))
        ),
        "where gap_n": lambda L, x, s_1, s_2, k_1, k_2, o_1, o_2: (
            L * (s_1 * k_1 * (x - o_1) ** 2 + s_2 * k_2 * (x - o_2) ** 2) / 2 - _least(L, s_1, s_2, k_1, k_2, o_1, o_2)
        ),
        "where spread_n": _least,
        "where absent": lambda L, x, r_3, k_3, o_3: r_3 * k_3 * L * (x - o_3) ** 2 / 2,
    },
}
for _name, _parts in NUMBERS.items():
    VALUES[_name] |= _parts
