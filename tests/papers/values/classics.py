"""Values of the classical statements on gradient descent and SGD, from their textbook proofs."""

POINTS = (
    "mu=3/2 L=7/3 E=3 eta=1/70 sigma2=13/5 dist2_0=17/9 gap_0=19/6 k=4 R=6 sum_p2=2/11 c=11/4 p=5/7 d=8/3",
    "mu=2/7 L=1/3 E=5 eta=1/11 sigma2=5/8 dist2_0=9/4 gap_0=5/3 k=7 R=2 sum_p2=3/13 c=15/4 p=7/5 d=1/6",
)

LET = {
    # Solve R (2h - 4Lh^2 - 4La) gap = dist2_0 + 2 R a sigma2, a = (hL + 2h^2 L^2) eta^2 (E-1)(2E-1)/6, for the gap.
    "_local_gd": (
        "(dist2_0/R + 2*((E*eta*L + 2*(E*eta)**2*L**2)*eta**2*(E - 1)*(2*E - 1)/6)*sigma2)/(2*(E*eta) - 4*L*(E*eta)**2 "
        "- 4*L*((E*eta*L + 2*(E*eta)**2*L**2)*eta**2*(E - 1)*(2*E - 1)/6))"
    )
}


STEPS = {"metric rounds": "k"}
MEAN = {**STEPS, "metric weights": "1"}
CONVEX = {**STEPS, "trivial": "L*dist2_0/2", "rate": "1/k"}
NONCONVEX = {**MEAN, "trivial": "2*L*gap_0", "rate": "1/k"}
STRONGLY = {**STEPS, "trivial": "dist2_0", "domain": ("mu <= L",)}
SGD_CONVEX = {**CONVEX, **MEAN, "rate": "1/sqrt(k)"}
SGD_NONCONVEX = {**NONCONVEX, "rate": "1/sqrt(k)"}
SMALL_STEP = {"step size": "eta <= 1/L"}
CONTRACTION = {"step size": "eta <= 2/(mu + L)"}


def sgd_sharp(mu, eta, sigma2, sum_p2, dist2_0, k):
    """x' = (1 - mu eta) x + noise, summed step by step."""
    found = dist2_0
    for _ in range(int(k)):
        found = (1 - mu * eta) ** 2 * found + eta**2 * sigma2 * sum_p2
    return found


FUNCTIONS = {"sgd_sharp": sgd_sharp}

VALUES = {
    "chung_lemma/as_printed": {
        "bound": "d/(c - p)",
        "decrease": "c > p",
        "value": "A",
        # a_(k+1) less the contracted a_k, for a_k = A/k^p, times k^(p+1)
        "where d": "slack + A*(k*(k/(k + 1))**p - (k - c))",
    },
    "gradient_descent_convex/sharp": {**CONVEX, **SMALL_STEP, "bound": "L*dist2_0/(4*k*eta*L + 2)"},
    "gradient_descent_convex/as_printed": {**CONVEX, **SMALL_STEP, "bound": "dist2_0/(2*eta*k)"},
    "gradient_descent_nonconvex/sharp": {
        **NONCONVEX,
        "step size": "eta < 2/L",
        "bound": "gap_0/(k*(eta - L*eta**2/2))",
    },
    "gradient_descent_nonconvex/as_printed": {**NONCONVEX, **SMALL_STEP, "bound": "2*gap_0/(eta*k)"},
    "gradient_descent_strongly_convex/as_printed": {**STRONGLY, **SMALL_STEP, "bound": "(1 - mu*eta)**k*dist2_0"},
    "gradient_descent_strongly_convex/sharp": {**STRONGLY, **CONTRACTION, "bound": "(1 - mu*eta)**(2*k)*dist2_0"},
    "local_gd_convex/sharp": {
        "trivial": "L*dist2_0/2",
        "metric rounds": "R",
        "metric weights": "1",
        "step size": "E*eta <= 1/(4*L)",
        "bound": "_local_gd",
    },
    "sgd_convex/sharp": {
        **SGD_CONVEX,
        "step size": "eta < 1/L",
        "bound": "(dist2_0/k + eta**2*sigma2*sum_p2)/(2*eta - 2*L*eta**2)",
    },
    "sgd_convex/as_printed": {
        **SGD_CONVEX,
        "step size": "eta <= 1/(2*L)",
        "bound": "dist2_0/(eta*k) + eta*sigma2*sum_p2",
    },
    "sgd_nonconvex/sharp": {
        **SGD_NONCONVEX,
        "step size": "eta < 2/L",
        "bound": "(gap_0/k + L*eta**2*sigma2*sum_p2/2)/(eta - L*eta**2/2)",
    },
    "sgd_nonconvex/as_printed": {**SGD_NONCONVEX, **SMALL_STEP, "bound": "2*gap_0/(eta*k) + L*eta*sigma2*sum_p2"},
    "sgd_strongly_convex/as_printed": {
        **STRONGLY,
        **SMALL_STEP,
        "bound": "(1 - mu*eta)**k*dist2_0 + eta*sigma2*sum_p2/mu",
    },
    "sgd_strongly_convex/sharp": {**STRONGLY, **CONTRACTION, "bound": "sgd_sharp(mu, eta, sigma2, sum_p2, dist2_0, k)"},
}
