"""Values of FedShuffle's lemmas of Appendices B, C and D, from the paper's text."""

from values.arithmetic import exp, log, q, sqrt
from values.fedshuffle import (
    FACTOR,
    MEAN,
    NO_VARIANCE_FACTOR,
    ORDERED,
    THIRD_STEP,
    third,
    tuned_linear,
    tuned_sublinear,
)

ONE_ROUND = {"metric rounds": lambda: 1}
DISTANCE = {"trivial": lambda dist2_0: dist2_0}


def drift_share(L, E, eta_l, P2, sigma2, client_grad2_0):
    """Chain of Lemma C.2: xi <= 2 eta_l^2 L^2 E^2 xi + 2 eta_l^2 ((E^2 + P^2) grad + sigma^2), solved for xi."""
    first = 2 * eta_l**2 * ((E**2 + P2 / 3) * client_grad2_0 + sigma2 / 3)
    return first / (1 - 2 * eta_l**2 * L**2 * E**2)


# --- Lemmas C.1 and C.2, the recursions ---------------------------------------------------------------------------


def lemma_c_1(mu, L, G2, M, step, dist2_0, gap_0, drift_0):
    """One round by Lemma C.1, or by Lemma E.3 with M1 for M."""
    return (1 - mu * step / 2) * dist2_0 - step * gap_0 + 3 * L * step * drift_0 + 2 * step**2 * M * G2


LEMMA_C_1 = {
    **ONE_ROUND,
    **ORDERED,
    "step size": lambda E, eta_g, eta_l, L, M, B2: (E * eta_g * eta_l, "<=", 1 / (4 * L * (1 + M * B2))),
    "bound": lambda mu, L, G2, M, E, eta_l, eta_g, dist2_0, gap_0, drift_0: lemma_c_1(
        mu, L, G2, M, E * eta_g * eta_l, dist2_0, gap_0, drift_0
    ),
}


def _drift(gap_share, noise_share):
    return {
        **THIRD_STEP,
        "metric scale": lambda E, L, eta_g, eta_l: 3 * L * E * eta_g * eta_l,
        "bound": lambda L, E, G2, P2, eta_g, eta_l, gap_0, sigma2: (
            E * eta_g * eta_l * (gap_share() * gap_0 + noise_share() * L * eta_l**2 * third(E, P2, G2, sigma2))
        ),
    }


def _recursion(gap_share, noise_share, spread):
    return {
        **ONE_ROUND,
        **ORDERED,
        **THIRD_STEP,
        **FACTOR,
        "bound": lambda mu, L, G2, P2, sigma2, M, E, eta_l, eta_g, dist2_0, gap_0: (
            (1 - mu * E * eta_g * eta_l / 2) * dist2_0
            - gap_share() * E * eta_g * eta_l * gap_0
            + 2 * (E * eta_g * eta_l) ** 2 * M * G2
            + noise_share * L * E * eta_g * eta_l**3 * spread(E, P2, G2, sigma2)
        ),
    }


def _recursion_nonconvex(share, noise_share, degree, spread):
    return {
        **ONE_ROUND,
        **THIRD_STEP,
        **FACTOR,
        "bound": lambda L, G2, P2, sigma2, M, E, eta_l, eta_g, gap_0, grad2_0: (
            gap_0
            - share() * E * eta_g * eta_l * grad2_0
            + noise_share() * L**degree * E * eta_g * eta_l**3 * spread(E, P2, G2, sigma2)
            + (E * eta_g * eta_l) ** 2 * M * G2 * L
        ),
    }


ALGORITHM_1 = {
    **ONE_ROUND,
    **ORDERED,
    **DISTANCE,
    **THIRD_STEP,
    **FACTOR,
    "bound": lambda mu, L, G2, P2, sigma2, M, E, eta_l, eta_g, dist2_0: (
        (1 - mu * E * eta_g * eta_l / 2) * dist2_0
        + 2 * (E * eta_g * eta_l) ** 2 * M * G2
        + 9 * L * E * eta_g * eta_l**3 * third(E, P2, G2, sigma2)
    ),
}

# --- Appendix B ---------------------------------------------------------------------------------------------------

LARGEST_STEP = {
    "largest step": lambda eta_max, mu: (eta_max, "<", 1 / mu),
    "enough terms": lambda K, eta_max, mu: (K, ">=", 1 / (2 * mu * eta_max)),
}


def linear_order(mu, eta_max, d0, c1, R):
    """The printed order of Lemma B.2, which counts by R."""
    return mu * d0 * exp(-mu * eta_max * R) + c1 / (mu * R)


def _fixed_linear(mu, eta, d0, c1, c2, K):
    left = (1 - mu * eta) ** int(K)
    return mu * d0 * left / (1 - left) + c1 * eta + c2 * eta**2


# --- Appendix D ---------------------------------------------------------------------------------------------------

A_MOMENTUM = {"momentum": lambda a: (a, "<=", 1)}
P_IS_0 = {"P is 0": NO_VARIANCE_FACTOR["P is 0"]}
LEMMA_D_1 = {
    **A_MOMENTUM,
    **P_IS_0,
    "step size and L": lambda L, eta_l: (2 * L * eta_l, "<=", 1),
    "bound": lambda d2, sigma2_i, D_i, eta_l, L: 2 * eta_l**2 * L**2 * sigma2_i / D_i + eta_l**2 * L**2 * d2,
}
LEMMA_D_3 = {**LEMMA_D_1, "step size and delta": lambda eta_l, delta, E: (4 * delta * E * eta_l, "<=", 1)}
LEMMA_D_4 = {
    **A_MOMENTUM,
    **P_IS_0,
    "step size and L": lambda L, eta_l: (4 * L * eta_l, "<=", 1),
    "step size and delta": lambda eta_l, delta, E: (40 * delta * E * eta_l, "<=", 1),
    "momentum and step size": lambda a, E, delta, eta_l: (a, ">=", 1152 * E**2 * delta**2 * eta_l**2),
    **ONE_ROUND,
    "trivial": lambda h2: h2,
    "bound": lambda h2, gam2, sigma2_i, D_i, S, E, eta_l, delta, L, a: (
        h2
        - 23 * a * h2 / 24
        + 3 * a**2 * gam2
        + 16 * eta_l**4 * E**2 * delta**2 * L**2 * sigma2_i / D_i
        + 8 * eta_l**2 * delta**2 * E * S
    ),
}
LEMMA_D_5 = {
    **{name: formula for name, formula in LEMMA_D_4.items() if name != "trivial"},
    **NO_VARIANCE_FACTOR,
    **MEAN,
    "bound": lambda gap_0, h2_0, E, R, eta_l, L, a, G2, sigma2: (
        5 * (gap_0 + 288 * eta_l * E * h2_0 / (23 * a)) / (eta_l * R * E) + 25 * eta_l**2 * L**2 * sigma2 + 255 * a * G2
    ),
}

VALUES = {
    "algorithm_1/corrected": ALGORITHM_1,
    "algorithm_1/as_printed": ALGORITHM_1,
    "drift_of_a_round/corrected": {
        "local step": lambda eta_l, E, L: (eta_l, "<=", 1 / (2 * E * L)),
        "bound": drift_share,
    },
    "lemma_b_1/as_printed": {
        **ORDERED,
        "bound": lambda mu, L, rise, norm2_yz, norm2_zx: rise - mu / 4 * norm2_yz + L * norm2_zx,
    },
    "lemma_b_1/sharp": {
        **ORDERED,
        "bound": lambda mu, L, rise, norm2_yz, norm2_zx: rise - mu / 4 * norm2_yz + (mu + L) / 2 * norm2_zx,
    },
    "lemma_b_2/corrected": {
        **LARGEST_STEP,
        "bound": tuned_linear,
        "more points": ("K=100", "K=100 c1=1/99999999", "K=20 c1=900"),
    },
    "lemma_b_2/fixed_step": {"step": lambda eta, mu: (eta, "<", 1 / mu), "bound": _fixed_linear},
    "lemma_b_2/as_printed": {
        "largest step": lambda eta_max, mu: (eta_max, "<=", 1 / mu),
        "enough rounds": lambda R, eta_max, mu: (R, ">=", 1 / (2 * mu * eta_max)),
        "bound": linear_order,
        "rate": linear_order,
    },
    "lemma_b_3/as_printed": {"bound": tuned_sublinear},
    "lemma_b_3/fixed_step": {"bound": lambda eta, d0, c1, c2, K: d0 / (eta * K) + c1 * eta + c2 * eta**2},
    "lemma_b_4/as_printed": {"bound": lambda weighted_squares: weighted_squares},
    "lemma_b_4/uniform": {
        "domain": ("b <= n", "norm2_sum <= n*squares"),
        "more points": ("n=2 b=1 norm2_sum=5/4", "n=1 b=1 norm2_sum=5/4"),
        "bound": lambda n, b, squares, norm2_sum: (
            n**2 * (n - b) / (b * max(1, n - 1)) * (squares / n - norm2_sum / n**2)
        ),
    },
    "lemma_b_5/corrected": {
        "domain": ("k <= n",),
        "more points": ("n=2 k=1", "n=1 k=1"),
        "bound": lambda n, k, sigma2: (n - k) * sigma2 / (k * max(1, n - 1)),
    },
    "lemma_b_5/as_printed": {"domain": ("k <= n",), "bound": lambda n, k, sigma2: (n - k) * sigma2 / (k * (n - 1))},
    "lemma_b_6/as_printed": {"bound": lambda a, norm2_u, norm2_v: (1 + a) * norm2_u + (1 + 1 / a) * norm2_v},
    "lemma_b_6/sharp": {"bound": lambda norm2_u, norm2_v: norm2_u + norm2_v + 2 * sqrt(norm2_u * norm2_v)},
    "lemma_b_6_sum/as_printed": {"bound": lambda tau, squares: tau * squares},
    "lemma_b_6_sum/sharp": {
        "domain": ("spread <= squares",),
        "bound": lambda tau, squares, spread: tau * (squares - spread),
    },
    "lemma_c_1/corrected": {**LEMMA_C_1, **FACTOR},
    "lemma_c_1/as_printed": LEMMA_C_1,
    "lemma_c_1/raw": {
        **ONE_ROUND,
        **ORDERED,
        "bound": lambda mu, L, G2, B2, M, E, eta_l, eta_g, dist2_0, gap_0, drift_0: (
            dist2_0
            - 2 * E * eta_g * eta_l * gap_0
            - mu * E * eta_g * eta_l / 2 * dist2_0
            + 2 * L * E * eta_g * eta_l * drift_0
            + (E * eta_g * eta_l) ** 2 * (2 * (1 + M) * L**2 * drift_0 + 2 * M * G2 + 4 * L * (1 + M * B2) * gap_0)
        ),
    },
    "lemma_c_2/corrected": _drift(lambda: q(9, 10), lambda: 9),
    "lemma_c_2/as_printed": {
        **THIRD_STEP,
        "metric scale": lambda E, L, eta_g, eta_l: 3 * L * E * eta_g * eta_l,
        "bound": lambda E, G2, P2, eta_g, eta_l, gap_0, sigma2: (
            E * eta_g * eta_l * (9 * gap_0 / 10 + 9 * eta_l**2 * third(E, P2, G2, sigma2))
        ),
    },
    "lemma_c_2/sharp": _drift(lambda: q(6, 7), lambda: q(48, 7)),
    "lemma_c_2_nonconvex/corrected": {
        **THIRD_STEP,
        "bound": lambda L, G2, P2, sigma2, E, eta_l, grad2_0: (
            grad2_0 / (7 * L**2) + 16 * eta_l**2 * third(E, P2, G2, sigma2) / 7
        ),
    },
    "recursion_convex/corrected": _recursion(lambda: q(1, 10), 9, third),
    "recursion_convex/as_printed": {
        **_recursion(lambda: q(1, 10), 9, third),
        "bound": lambda mu, G2, P2, sigma2, M, E, eta_l, eta_g, dist2_0, gap_0: (
            (1 - mu * E * eta_g * eta_l / 2) * dist2_0
            - E * eta_g * eta_l * gap_0 / 10
            + 2 * (E * eta_g * eta_l) ** 2 * M * G2
            + 9 * (E * eta_g * eta_l) ** 3 / (eta_g * E) ** 2 * third(E, P2, G2, sigma2)
        ),
    },
    "recursion_convex/sharp": _recursion(lambda: 1, 5, third),
    "recursion_nonconvex/corrected": _recursion_nonconvex(lambda: q(1, 8), lambda: q(9, 4), 2, third),
    "recursion_nonconvex/as_printed": _recursion_nonconvex(lambda: q(1, 8), lambda: q(9, 4), 1, third),
    "recursion_nonconvex/sharp": _recursion_nonconvex(lambda: q(1, 4), lambda: q(3, 2), 2, third),
    "movement_of_a_round/corrected": {
        "bound": lambda L, M, E, eta_l, eta_g, drift_0, client_grad2_0, grad2_0: (
            2 * (E * eta_g * eta_l) ** 2 * ((1 + M) * L**2 * drift_0 + M * client_grad2_0 + grad2_0)
        )
    },
    "lemma_d_1/corrected": LEMMA_D_1,
    "lemma_d_1/as_printed": {
        **LEMMA_D_1,
        "where D_i": lambda: 2,
        "where sigma2_i": lambda half: half**2,
        "where d2": lambda a, mom, g_y, g_x: (a * g_y + (1 - a) * mom + (1 - a) * (g_y - g_x)) ** 2,
        # (g - grad f_i)^2 is (curvature * first step/2)^2, and the first step eta_l/2 (d + a half) or (d - a half)
        "value": lambda curved, L, eta_l, a, mom, g_y, g_x, half: (
            (curved * L * eta_l / 4) ** 2 * ((g_y + (1 - a) * (mom - g_x)) ** 2 + (a * half) ** 2)
        ),
    },
    "lemma_d_2/as_printed": {
        **A_MOMENTUM,
        "bound": lambda h2, y2, gam2, delta, a: 3 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
    },
    "lemma_d_2/sharp": {
        **A_MOMENTUM,
        "bound": lambda h2, y2, gam2, delta, a: 3 * (1 - a) ** 2 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2,
    },
    "lemma_d_3/as_printed": {
        **LEMMA_D_3,
        "bound": lambda h2, gam2, sigma2_i, D_i, S, E, eta_l, L, a: (
            16 * E**2 * eta_l**2 * S
            + 16 * E**3 * eta_l**2 * (3 * h2 + 3 * a**2 * gam2 + eta_l**2 * L**2 * sigma2_i / D_i)
        ),
    },
    "lemma_d_3/sharp": {
        **LEMMA_D_3,
        "bound": lambda h2, gam2, sigma2_i, D_i, S, E, eta_l, L, a: (
            E * (E - 1) * eta_l**2 * 144 * S / 37
            + E**2
            * (E - 1)
            * eta_l**2
            * (432 * (1 - a) ** 2 * h2 + 432 * a**2 * gam2 + 192 * eta_l**2 * L**2 * sigma2_i / D_i)
            / 37
        ),
    },
    "lemma_d_4/corrected": LEMMA_D_4,
    "lemma_d_4/as_printed": {**LEMMA_D_4, **NO_VARIANCE_FACTOR},
    "lemma_d_5/corrected": LEMMA_D_5,
    "lemma_d_5/as_printed": LEMMA_D_5,
}

# --- the other side of claims about numbers ---------------------------------------------------------------------------


def _psi(mu, eta_max, d0, d1, d2, d3, c1, c2):
    """The weighted mean of three increments, at the step of the lemma for three terms."""
    noise = max(c1, c2 / (3 * mu), 3 * mu**2 * d0 * exp(-3 * mu * eta_max))
    eta = min(eta_max, max(q(1, 2), log(max(q(1, 1), 3 * mu**2 * d0 / noise))) / (3 * mu))
    rest = 1 - mu * eta
    terms = [(rest * before - after) / eta for before, after in ((d0, d1), (d1, d2), (d2, d3))]
    mean = (terms[0] + terms[1] / rest + terms[2] / rest**2) / (1 + 1 / rest + 1 / rest**2)
    return mean + c1 * eta + c2 * eta**2


VALUES["lemma_b_2/corrected"] |= {"value": _psi, "where K": lambda: 3}
