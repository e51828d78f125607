"""Values of the classical statements on gradient descent and SGD, from their textbook proofs."""

from values.arithmetic import power, sqrt

POINTS = (
    "mu=3/2 L=7/3 E=3 eta=1/70 sigma2=13/5 dist2_0=17/9 gap_0=19/6 k=4 R=6 sum_p2=2/11 c=11/4 p=5/7 d=8/3",
    "mu=2/7 L=1/3 E=5 eta=1/11 sigma2=5/8 dist2_0=9/4 gap_0=5/3 k=7 R=2 sum_p2=3/13 c=15/4 p=7/5 d=1/6",
)


def _cap(numerator, relation="<="):
    """A step size of at most (or below) numerator/L."""
    return lambda eta, L: (eta, relation, numerator / L)


def _mean_of_extremes(eta, mu, L):
    return (eta, "<=", 2 / (mu + L))


CONVEX = {"trivial": lambda L, dist2_0: L * dist2_0 / 2}
NONCONVEX = {"trivial": lambda L, gap_0: 2 * L * gap_0}
STRONGLY = {"trivial": lambda dist2_0: dist2_0, "domain": ("mu <= L",)}
STEPS = {"metric rounds": lambda k: k}
MEAN = {**STEPS, "metric weights": lambda: 1}


def _slow(k):
    return 1 / sqrt(k)


def _local_gd(L, E, eta, sigma2, dist2_0, R):
    """Solve R (2h - 4Lh^2 - 4La) gap = dist2_0 + 2 R a sigma2, a = (hL + 2h^2 L^2) eta^2 (E-1)(2E-1)/6, for the gap."""
    h = E * eta
    a = (h * L + 2 * h**2 * L**2) * eta**2 * (E - 1) * (2 * E - 1) / 6
    return (dist2_0 / R + 2 * a * sigma2) / (2 * h - 4 * L * h**2 - 4 * L * a)


def _sgd_sharp(mu, eta, sigma2, sum_p2, dist2_0, k):
    """x' = (1 - mu eta) x + noise, summed step by step."""
    found = dist2_0
    for _ in range(int(k)):
        found = (1 - mu * eta) ** 2 * found + eta**2 * sigma2 * sum_p2
    return found


VALUES = {
    "chung_lemma/as_printed": {
        "bound": lambda c, p, d: d / (c - p),
        "decrease": lambda c, p: (c, ">", p),
        "value": lambda A: A,
        # a_(k+1) less the contracted a_k, for a_k = A/k^p, times k^(p+1)
        "where d": lambda A, k, p, c, slack: slack + A * (k * power(k / (k + 1), p) - (k - c)),
    },
    "gradient_descent_convex/sharp": {
        **CONVEX,
        **STEPS,
        "rate": lambda k: 1 / k,
        "step size": _cap(1),
        "bound": lambda L, eta, dist2_0, k: L * dist2_0 / (4 * k * eta * L + 2),
    },
    "gradient_descent_convex/as_printed": {
        **CONVEX,
        **STEPS,
        "rate": lambda k: 1 / k,
        "step size": _cap(1),
        "bound": lambda eta, dist2_0, k: dist2_0 / (2 * eta * k),
    },
    "gradient_descent_nonconvex/sharp": {
        **NONCONVEX,
        **MEAN,
        "rate": lambda k: 1 / k,
        "step size": _cap(2, "<"),
        "bound": lambda L, eta, gap_0, k: gap_0 / (k * (eta - L * eta**2 / 2)),
    },
    "gradient_descent_nonconvex/as_printed": {
        **NONCONVEX,
        **MEAN,
        "rate": lambda k: 1 / k,
        "step size": _cap(1),
        "bound": lambda eta, gap_0, k: 2 * gap_0 / (eta * k),
    },
    "gradient_descent_strongly_convex/as_printed": {
        **STRONGLY,
        **STEPS,
        "step size": _cap(1),
        "bound": lambda mu, eta, dist2_0, k: (1 - mu * eta) ** int(k) * dist2_0,
    },
    "gradient_descent_strongly_convex/sharp": {
        **STRONGLY,
        **STEPS,
        "step size": _mean_of_extremes,
        "bound": lambda mu, eta, dist2_0, k: (1 - mu * eta) ** int(2 * k) * dist2_0,
    },
    "local_gd_convex/sharp": {
        **CONVEX,
        "metric rounds": lambda R: R,
        "metric weights": lambda: 1,
        "step size": lambda E, eta, L: (E * eta, "<=", 1 / (4 * L)),
        "bound": _local_gd,
    },
    "sgd_convex/sharp": {
        **CONVEX,
        **MEAN,
        "rate": _slow,
        "step size": _cap(1, "<"),
        "bound": lambda L, eta, sigma2, sum_p2, dist2_0, k: (
            (dist2_0 / k + eta**2 * sigma2 * sum_p2) / (2 * eta - 2 * L * eta**2)
        ),
    },
    "sgd_convex/as_printed": {
        **CONVEX,
        **MEAN,
        "rate": _slow,
        "step size": lambda eta, L: (eta, "<=", 1 / (2 * L)),
        "bound": lambda eta, sigma2, sum_p2, dist2_0, k: dist2_0 / (eta * k) + eta * sigma2 * sum_p2,
    },
    "sgd_nonconvex/sharp": {
        **NONCONVEX,
        **MEAN,
        "rate": _slow,
        "step size": _cap(2, "<"),
        "bound": lambda L, eta, sigma2, sum_p2, gap_0, k: (
            (gap_0 / k + L * eta**2 * sigma2 * sum_p2 / 2) / (eta - L * eta**2 / 2)
        ),
    },
    "sgd_nonconvex/as_printed": {
        **NONCONVEX,
        **MEAN,
        "rate": _slow,
        "step size": _cap(1),
        "bound": lambda L, eta, sigma2, sum_p2, gap_0, k: 2 * gap_0 / (eta * k) + L * eta * sigma2 * sum_p2,
    },
    "sgd_strongly_convex/as_printed": {
        **STRONGLY,
        **STEPS,
        "step size": _cap(1),
        "bound": lambda mu, eta, sigma2, sum_p2, dist2_0, k: (
            (1 - mu * eta) ** int(k) * dist2_0 + eta * sigma2 * sum_p2 / mu
        ),
    },
    "sgd_strongly_convex/sharp": {**STRONGLY, **STEPS, "step size": _mean_of_extremes, "bound": _sgd_sharp},
}
