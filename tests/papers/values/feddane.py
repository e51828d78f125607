"""Values of the statements on FedDANE, from the paper's text."""

from values.arithmetic import ceil, q, sqrt

POINTS = (
    "L=3/5 lam=2/7 mu=46/3 gamma=1/90 B2=5/2 gap_0=17/4 grad2_0=9/8 f2_0=13/6 K=3 n=7 K2=5 T=4 eps=2/9 rho=3/22 "
    "error2=5/9 step2=19/7 residual2=8/3 moved2=11/6 client_grad2_0=11/3 p_i=1/5 p_j=3/10 p_k=1/2 sigma2=7/9 "
    "L_f=4/5 inv=1/13 gam=1/8 lip=5/7 grad2=6/5 product=7/5 square=9/5 factor=9/4 inv_mu=1/6 gamma_inv_mu=1/150 "
    "L_inv_mu2=1/170 gamma2_inv_mu2=1/35 L_gamma2_inv_mu2=1/48",
    "L=5/3 lam=3/8 mu=49/5 gamma=2/17 B2=7/5 gap_0=1/4 grad2_0=8/3 f2_0=6/7 K=9 n=11 K2=2 T=6 eps=5/6 rho=1/12 "
    "error2=25/16 step2=9/4 residual2=4/9 moved2=49/25 client_grad2_0=19/3 p_i=1/3 p_j=3/7 p_k=5/21 sigma2=11/8 "
    "L_f=7/9 inv=2/19 gam=3/16 lip=8/9 grad2=13/2 product=9/2 square=5/13 factor=17/3 inv_mu=3/23 gamma_inv_mu=4/99 "
    "L_inv_mu2=2/45 gamma2_inv_mu2=4/29 L_gamma2_inv_mu2=3/53",
)
"""L is below mu - lam of the first point by much, so that rho is positive; in the second it is negative."""


def rho_nonconvex(L, lam, mu, gamma, B2):
    """Theorem 5 as printed, term by term."""
    m = mu - lam
    return (
        1 / mu
        - 3 * gamma / (2 * m)
        - L * (1 + gamma) ** 2 / m**2
        - 3 * L / (2 * mu * m)
        - (B2 - 1) * (L * (1 + gamma) ** 2 / m**2 + L / (mu * m) + gamma / m)
    )


def rho_convex(L, mu, gamma, B2):
    """Theorem 3 as printed, term by term."""
    return (
        (2 - 3 * gamma) / (2 * mu)
        - (2 * L * (1 + gamma) ** 2 + 3 * L) / (2 * mu**2)
        - (B2 - 1) * ((L * (1 + gamma) ** 2 + L) / mu**2 + gamma / mu)
    )


def rho_sharp(L, lam, mu, gamma, second_moment):
    """From the proof with E|g|^2 = second_moment |grad f|^2: the coefficient of -|grad f|^2."""
    m = mu - lam
    linear = 1 / mu - (L / mu + gamma) / (2 * m)
    return linear - second_moment * ((L / mu + gamma) / (2 * m) + L * (1 + gamma) ** 2 / (2 * m**2))


def slope(gamma, B2):
    """The a of rho = a/mu - c/mu^2."""
    return 1 - gamma * (B2 + q(1, 2))


def offset(L, gamma, B2):
    """The c of rho = a/mu - c/mu^2."""
    return L * (B2 * ((1 + gamma) ** 2 + 1) + q(1, 2))


def _trivial(gap_0):
    return gap_0


ONE_ITERATION = {"trivial": _trivial, "metric rounds": lambda: 1}
PROXIMAL = {"proximal weight": lambda mu, lam: (mu, ">", lam)}


def _small_gamma(gamma, B2):
    return (slope(gamma, B2), ">", 0)


def _convex(second_moment):
    """Theorem 3 with the sharp rho; the second moment of g depends on B2 and perhaps on K."""
    if second_moment is None:
        return {
            **ONE_ITERATION,
            "positive decrease": lambda L, mu, gamma, B2: (rho_sharp(L, 0, mu, gamma, B2), ">", 0),
            "bound": lambda L, mu, gamma, B2, gap_0, grad2_0: gap_0 - rho_sharp(L, 0, mu, gamma, B2) * grad2_0,
        }
    return {
        **ONE_ITERATION,
        "positive decrease": lambda L, mu, gamma, B2, K: (rho_sharp(L, 0, mu, gamma, 1 + (B2 - 1) / K), ">", 0),
        "bound": lambda L, mu, gamma, B2, K, gap_0, grad2_0: (
            gap_0 - rho_sharp(L, 0, mu, gamma, 1 + (B2 - 1) / K) * grad2_0
        ),
    }


POSITIVE_5 = {
    **PROXIMAL,
    "positive decrease": lambda L, lam, mu, gamma, B2: (rho_nonconvex(L, lam, mu, gamma, B2), ">", 0),
}
POSITIVE_5_SHARP = {
    **PROXIMAL,
    "positive decrease": lambda L, lam, mu, gamma, B2, K: (rho_sharp(L, lam, mu, gamma, 1 + (B2 - 1) / K), ">", 0),
}
THEOREM_5 = {
    **ONE_ITERATION,
    **POSITIVE_5,
    "bound": lambda L, lam, mu, gamma, B2, gap_0, grad2_0: gap_0 - rho_nonconvex(L, lam, mu, gamma, B2) * grad2_0,
}
THEOREM_5_SHARP = {
    **ONE_ITERATION,
    **POSITIVE_5_SHARP,
    "bound": lambda L, lam, mu, gamma, B2, K, gap_0, grad2_0: (
        gap_0 - rho_sharp(L, lam, mu, gamma, 1 + (B2 - 1) / K) * grad2_0
    ),
}


def _least_nonconvex(L, lam, gamma, B2):
    """Larger root of rho mu m^2 = 0, m = mu - lam."""
    g, solver, linear = gamma * (B2 + q(1, 2)), L * B2 * (1 + gamma) ** 2, L * (B2 + q(1, 2))
    a, b, c = 1 - g, g * lam + solver + linear, solver * lam
    return lam + (b + sqrt(b**2 + 4 * a * c)) / (2 * a)


def _rho_devices(L_f, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2):
    half = B2 + q(1, 2)
    return inv_mu - gamma_inv_mu * half - L_f * B2 * gamma2_inv_mu2 - L_inv_mu2 * half


def _rho_devices_printed(L, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2):
    return (
        inv_mu
        - 3 * gamma_inv_mu / 2
        - L_gamma2_inv_mu2
        - 3 * L_inv_mu2 / 2
        - (B2 - 1) * (L * gamma2_inv_mu2 + L_inv_mu2 + gamma_inv_mu)
    )


def _rho_devices_sharp(L_f, B2, K, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2):
    second = 1 + (B2 - 1) / K
    return inv_mu - (L_inv_mu2 + gamma_inv_mu) * (1 + second) / 2 - L_f * gamma2_inv_mu2 * second / 2


def _corollary(rho):
    return {
        **ONE_ITERATION,
        "exact solutions": lambda gamma: (gamma, "==", 0),
        "choice of mu": lambda L, B2: 5 * L * B2,
        "bound": lambda L, B2, gap_0, grad2_0: gap_0 - rho(L, B2) * grad2_0,
    }


ONE_OF_TWO = {
    "metric rounds": lambda T: T,
    "exact solutions": lambda gamma: (gamma, "==", 0),
    "one gradient": lambda K: (K, "==", 1),
    "one solver": lambda K2: (K2, "==", 1),
}


def _feasible_b(L, mu, gamma):
    return ((2 - gamma) * mu - L) / (2 * (L * ((1 + gamma) ** 2 + 1) + gamma * mu))


def _least_gamma(e1, e2, s1, s2):
    return sqrt((e1**2 + e2**2) / (s1**2 + s2**2))


def _mean(p, g1, g2):
    return p * g1 + (1 - p) * g2


def _mean_square(p, g1, g2):
    return p * g1**2 + (1 - p) * g2**2


def _enumerated(p, g1, g2):
    """E|g - grad f|^2 of two draws: (11), (12), (21), (22)."""
    mean = _mean(p, g1, g2)
    pairs = (((g1, g1), p * p), ((g1, g2), p * (1 - p)), ((g2, g1), (1 - p) * p), ((g2, g2), (1 - p) ** 2))
    return sum(chance * ((a + b) / 2 - mean) ** 2 for (a, b), chance in pairs)


DISSIMILAR = {"where B2": lambda p, g1, g2: _mean_square(p, g1, g2) / _mean(p, g1, g2) ** 2}
OF_TWO = {**DISSIMILAR, "where grad2_0": lambda p, g1, g2: _mean(p, g1, g2) ** 2, "value": _enumerated}


def _without_replacement(g1, g2, g3):
    mean = (g1 + g2 + g3) / 3
    return sum((pair / 2 - mean) ** 2 for pair in (g1 + g2, g1 + g3, g2 + g3)) / 3


def _drawn(p_j, p_k):
    """Half the chance of being first, or second after one of the others."""
    p_i = 1 - p_j - p_k
    return (p_i + p_j * p_i / (p_i + p_k) + p_k * p_i / (p_i + p_j)) / 2


def _rest(p_i, p_j):
    return 1 - p_i - p_j


def _best_lipschitz(lam, m, gamma, B2):
    """Where -mu^2 m^3 rho' = m^3 - g mu^2 m - L (2 S mu^2 + (B2 + 1/2) (2 mu - lam) m) vanishes."""
    mu, half = lam + m, B2 + q(1, 2)
    return (m**3 - gamma * half * mu**2 * m) / (2 * B2 * (1 + gamma) ** 2 * mu**2 + half * (2 * mu - lam) * m)


def _best_rho(lam, m, gamma, B2):
    return rho_nonconvex(_best_lipschitz(lam, m, gamma, B2), lam, lam + m, gamma, B2)


VALUES = {
    "corollary_4/corrected": _corollary(lambda L, B2: 3 / (25 * L * B2) - 1 / (50 * L * B2**2)),
    "corollary_4/as_printed": _corollary(lambda L, B2: 3 / (25 * L * B2)),
    "corollary_4/sharp": _corollary(lambda L, B2: 4 / (25 * L * B2) - 1 / (50 * L * B2**2)),
    "definition_1/as_printed": {
        "bound": lambda error2, step2: sqrt(error2 / step2),
        "value": _least_gamma,
        "where error2": lambda e1, e2: e1**2 + e2**2,
        "where step2": lambda s1, s2: s1**2 + s2**2,
    },
    "definition_1/certified": {
        **PROXIMAL,
        "value": _least_gamma,
        "where residual2": lambda c1, c2, e1, e2, lam, mu: ((mu - lam + c1) * e1) ** 2 + ((mu - lam + c2) * e2) ** 2,
        "where moved2": lambda s1, s2, e1, e2: (s1 + e1) ** 2 + (s2 + e2) ** 2,
        "small residual": lambda residual2, lam, mu, moved2: (sqrt(residual2), "<", (mu - lam) * sqrt(moved2)),
        "bound": lambda lam, mu, residual2, moved2: (
            sqrt(residual2) / (mu - lam) / (sqrt(moved2) - sqrt(residual2) / (mu - lam))
        ),
    },
    "definition_2/as_printed": {
        "domain": ("client_grad2_0 >= grad2_0",),
        "bound": lambda client_grad2_0, grad2_0: sqrt(client_grad2_0 / grad2_0),
        "value": lambda p, g1, g2: sqrt(_mean_square(p, g1, g2)) / abs(_mean(p, g1, g2)),
        "where client_grad2_0": _mean_square,
        "where grad2_0": lambda p, g1, g2: _mean(p, g1, g2) ** 2,
    },
    "equation_11/corrected": {**OF_TWO, "bound": lambda B2, grad2_0: (B2 - 1) * grad2_0},
    "equation_11/as_printed": {
        **DISSIMILAR,
        "value": _enumerated,
        "where f2_0": lambda f0: f0**2,
        "bound": lambda B2, f2_0: (B2 - 1) * f2_0,
    },
    "equation_11/sharp": {**OF_TWO, "where K": lambda: 2, "bound": lambda B2, K, grad2_0: (B2 - 1) * grad2_0 / K},
    "equation_11/uniform_without_replacement": {
        "value": _without_replacement,
        "where K": lambda: 2,
        "where n": lambda: 3,
        "where grad2_0": lambda g1, g2, g3: (g1 + g2 + g3) ** 2 / 9,
        "where B2": lambda g1, g2, g3: 3 * (g1**2 + g2**2 + g3**2) / (g1 + g2 + g3) ** 2,
        "bound": lambda B2, K, grad2_0, n: (B2 - 1) * grad2_0 * (1 / K - (K - 1) / (K * (n - 1))),
    },
    "equation_3/corrected": {
        **ONE_OF_TWO,
        "bound": lambda mu, gap_0, T: gap_0 * (q(1, 2) + (1 - 2 / mu) ** 2 / 4 + (1 - 2 / (mu + 2)) ** 2 / 4) ** int(T),
    },
    "equation_3/as_printed": {
        **ONE_OF_TWO,
        "bound": lambda mu, gap_0, T: gap_0 * (q(1, 2) + (mu / (mu + 2)) ** 2 / 2) ** int(T),
    },
    "feasibility_b/corrected": {
        "bound": lambda L, mu, gamma: sqrt(_feasible_b(L, mu, gamma)),
        "value": lambda L, mu, gamma: sqrt(_feasible_b(L, mu, gamma)),
        "B above 1": lambda L, mu, gamma: (_feasible_b(L, mu, gamma), ">", 1),
    },
    "feasibility_gamma/corrected": {"bound": lambda B2: 2 / (2 * B2 + 1), "value": lambda B2: 1 / (B2 + q(1, 2))},
    "feasibility_mu/least": {
        "small gamma": _small_gamma,
        "bound": lambda L, gamma, B2: offset(L, gamma, B2) / slope(gamma, B2),
        "value": lambda mu: mu,
        "where L": lambda mu, gamma, B2: mu * slope(gamma, B2) / offset(1, gamma, B2),
    },
    "feasibility_mu/best": {
        "small gamma": _small_gamma,
        "bound": lambda L, gamma, B2: 2 * offset(L, gamma, B2) / slope(gamma, B2),
        "value": lambda mu: mu,
        "where L": lambda mu, gamma, B2: mu * slope(gamma, B2) / offset(2, gamma, B2),
    },
    "feasibility_mu/least_nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": _small_gamma,
        "bound": _least_nonconvex,
        "value": lambda lam, m: lam + m,
        "where L": lambda lam, m, gamma, B2: (
            (m / (lam + m) - gamma * (B2 + q(1, 2))) / (B2 * (1 + gamma) ** 2 / m + (B2 + q(1, 2)) / (lam + m))
        ),
    },
    "feasibility_mu/best_nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": _small_gamma,
        "bound": _best_lipschitz,
        "value": _best_lipschitz,
    },
    "feasibility_decrease/convex": {
        "small gamma": _small_gamma,
        "bound": lambda L, gamma, B2: slope(gamma, B2) ** 2 / offset(L, gamma, B2) / 4,
        "value": lambda L, gamma, B2: rho_convex(L, 2 * offset(L, gamma, B2) / slope(gamma, B2), gamma, B2),
    },
    "feasibility_decrease/nonconvex": {
        "domain": ("lam >= 0",),
        "small gamma": _small_gamma,
        "bound": _best_rho,
        "value": _best_rho,
    },
    "minibatch_gd/decrease": {
        **DISSIMILAR,
        "bound": lambda L, mu, B2: 1 / mu - L * B2 / (2 * mu**2),
        # the model f - <grad f, g>/mu + h |g|^2/(2 mu^2) in expectation over the device, by its weight
        "value": lambda L, below, mu, p, g1, g2: (
            sum(
                chance * (_mean(p, g1, g2) * g / mu - (L - below) * g**2 / (2 * mu**2))
                for g, chance in ((g1, p), (g2, 1 - p))
            )
            / _mean(p, g1, g2) ** 2
        ),
    },
    "minibatch_gd/advantage": {
        "bound": lambda L, mu, B2: 1 / mu - L * B2 / (2 * mu**2) - rho_convex(L, mu, 0, B2),
        "value": lambda L, mu, B2: L * (3 * B2 + 1) / (2 * mu**2),
    },
    "one_device/corrected": {
        "unbiased": lambda product, grad2: (product, ">=", grad2),
        "second moment": lambda square, factor, grad2: (square, "<=", factor * grad2),
        "bound": lambda L_f, inv, gam, lip, grad2, factor: (
            grad2 * (-inv + (lip * inv**2 + gam * inv) * (1 + factor) / 2 + L_f * (1 + gam) ** 2 * inv**2 * factor / 2)
        ),
    },
    "remark_fedprox_rate/as_printed": {"bound": lambda L, B2: 3 / (25 * L * B2), "rate": lambda L, B2: 1 / (L * B2)},
    "remark_iid/corrected": {"bound": lambda: 1},
    "remark_iid/as_printed": {"bound": lambda: 1},
    "remark_sampling/corrected": {
        "domain": ("Eq(p_i + p_j + p_k, 1)",),
        "bound": lambda p_i, p_j, p_k: (p_i + p_j * p_i / (1 - p_j) + p_k * p_i / (1 - p_k)) / 2,
        "value": _drawn,
        "where p_k": _rest,
    },
    "remark_sampling/as_printed": {"bound": lambda p_i: p_i, "value": _drawn, "where p_k": _rest},
    "remark_sampling/uniform": {"bound": lambda n: 1 / n, "value": lambda n: (1 / n + (n - 1) / n / (n - 1)) / 2},
    "remark_sgd_rate/corrected": {
        "bound": lambda L, gap_0, eps, sigma2: 10 * L * gap_0 / eps + 8 * L * gap_0 * sigma2 / eps**2,
        "value": lambda L, gap_0, eps, sigma2: gap_0 / eps * 2 * L * (4 * (1 + sigma2 / eps) + 1),
        "rate": lambda L, gap_0, eps, sigma2: L * gap_0 * sigma2 / eps**2,
    },
    "remark_sgd_rate/as_printed": {
        "bound": lambda L, B2, gap_0, eps: 25 * L * B2 * gap_0 / (3 * eps),
        "value": lambda L, gap_0, eps, sigma2: L * gap_0 * sigma2 / eps**2,
        "rate": lambda L, gap_0, eps, sigma2: L * gap_0 * sigma2 / eps**2,
    },
    "theorem_3/as_printed": {
        **ONE_ITERATION,
        "positive decrease": lambda L, mu, gamma, B2: (rho_convex(L, mu, gamma, B2), ">", 0),
        "bound": lambda L, mu, gamma, B2, gap_0, grad2_0: gap_0 - rho_convex(L, mu, gamma, B2) * grad2_0,
    },
    "theorem_3/sharp_any_cohort": _convex(None),
    "theorem_3/sharp": _convex("K"),
    "theorem_5/as_printed": THEOREM_5,
    "theorem_5/sharp_any_cohort": {
        **ONE_ITERATION,
        **PROXIMAL,
        "positive decrease": lambda L, lam, mu, gamma, B2: (rho_sharp(L, lam, mu, gamma, B2), ">", 0),
        "bound": lambda L, lam, mu, gamma, B2, gap_0, grad2_0: gap_0 - rho_sharp(L, lam, mu, gamma, B2) * grad2_0,
    },
    "theorem_5/sharp": THEOREM_5_SHARP,
    "theorem_6/corrected": {
        **POSITIVE_5,
        "metric rounds": lambda T: T,
        "metric weights": lambda: 1,
        "rate": lambda T: 1 / T,
        "bound": lambda L, lam, mu, gamma, B2, gap_0, T: gap_0 / (rho_nonconvex(L, lam, mu, gamma, B2) * T),
    },
    "theorem_6/as_printed": {
        **POSITIVE_5,
        "metric rounds": lambda T: T + 1,
        "metric weights": lambda: 1,
        "rate": lambda T: 1 / T,
        "metric scale": lambda T: (T + 1) / T,
        "bound": lambda L, lam, mu, gamma, B2, gap_0, grad2_0, T: (
            gap_0 / (rho_nonconvex(L, lam, mu, gamma, B2) * T) + grad2_0 / T
        ),
    },
    "theorem_6/sharp": {
        **POSITIVE_5_SHARP,
        "metric rounds": lambda T: T,
        "metric weights": lambda: 1,
        "rate": lambda T: 1 / T,
        "bound": lambda L, lam, mu, gamma, B2, K, gap_0, T: (
            gap_0 / (rho_sharp(L, lam, mu, gamma, 1 + (B2 - 1) / K) * T)
        ),
    },
    "theorem_6_iteration/as_printed": THEOREM_5,
    "theorem_6_iteration/sharp": THEOREM_5_SHARP,
    "theorem_6_rounds/corrected": {
        "bound": lambda gap_0, eps, rho: ceil(gap_0 / (rho * eps)),
        "value": lambda T: T,
        "where gap_0": lambda T, part, eps, rho: (T - part) * eps * rho,
        "rate": lambda gap_0, eps, rho: gap_0 / (rho * eps),
    },
    "theorem_6_rounds/as_printed": {
        "bound": lambda gap_0, eps, rho: gap_0 / (rho * eps),
        "value": lambda T: T,
        "where gap_0": lambda T, eps, rho: T * eps * rho,
        "rate": lambda gap_0, eps, rho: gap_0 / (rho * eps),
    },
    "theorem_7/corrected": {
        **ONE_ITERATION,
        "positive decrease": lambda L_f, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2: (
            _rho_devices(L_f, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2),
            ">",
            0,
        ),
        "bound": lambda L_f, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, gap_0, grad2_0: (
            gap_0 - _rho_devices(L_f, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2) * grad2_0
        ),
    },
    "theorem_7/as_printed": {
        **ONE_ITERATION,
        "positive decrease": lambda L, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2: (
            _rho_devices_printed(L, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2),
            ">",
            0,
        ),
        "bound": lambda L, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2, gap_0, grad2_0: (
            gap_0
            - _rho_devices_printed(L, B2, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2) * grad2_0
        ),
    },
    "theorem_7/sharp": {
        **ONE_ITERATION,
        "positive decrease": lambda L_f, B2, K, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2: (
            _rho_devices_sharp(L_f, B2, K, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2),
            ">",
            0,
        ),
        "bound": lambda L_f, B2, K, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, gap_0, grad2_0: (
            gap_0 - _rho_devices_sharp(L_f, B2, K, inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2) * grad2_0
        ),
    },
}
