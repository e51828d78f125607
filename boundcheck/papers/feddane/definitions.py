"""Notation of the paper on FedDANE.

Tian Li, Anit Kumar Sahu, Manzil Zaheer, Maziar Sanjabi, Ameet Talwalkar, Virginia Smith, "FedDANE: A Federated
Newton-Type Method".

Squares are symbols where the paper squares a letter: B2 = B^2, grad2_0 = |grad f|^2 at the start, sigma2 = sigma^2;
gap_0 is Delta. mu is the weight of the proximal term (the parameter `prox` of methods), not a convexity constant.
A theorem about one iteration is about the first: its w^{t-1} is the start of the run.

All theorems bound one iteration in the same way. Let G = |grad f(w^{t-1})|, m = mu - lam, and g the plain mean of the
gradients of the devices in S_t. The quadratic upper model of f, averaged over S'_t, gives for every S'_t

    f(w^t) <= f - <grad f, g>/mu + (L/(2 mu m) + gamma/(2 m)) (G^2 + |g|^2) + L (1 + gamma)^2/(2 m^2) |g|^2.

This step needs no convexity of f. With E g = grad f it becomes a decrease by rho G^2; rho depends on the bound of
E|g|^2: 2 B^2 G^2 in the paper, B^2 G^2 by Jensen's inequality, (1 + (B^2 - 1)/K) G^2 for K draws with replacement.
"""

from boundcheck.theory.declare import *

PAPER = Paper(
    "FedDANE: A Federated Newton-Type Method",
    ("Tian Li", "Anit Kumar Sahu", "Manzil Zaheer", "Maziar Sanjabi", "Ameet Talwalkar", "Virginia Smith"), 2019,
    "Asilomar Conference on Signals, Systems, and Computers", "inproceedings", arxiv="2001.01920",
)  # fmt: skip


NOTATION = (
    common.L,
    positive("L_f", "Lipschitz constant of the gradient of f", CURVATURE, "L_f", "objective/L"),
    Symbol("lam", "lam*I + Hessian of F_k is positive semidefinite for every device", CURVATURE, latex=r"\lambda",
           key="clients/lambda"),
    positive("mu", "weight of the proximal term", CURVATURE, r"\mu", "method/prox"),
    # Definition 1 asks for gamma < 1, which rho > 0 implies.
    nonnegative("gamma", "inexactness of the local solutions (Definition 1)", ONE, r"\gamma", "subproblem/gamma"),
    Symbol("B2", "squared dissimilarity B^2 of the devices", ONE, low=Fraction(1), latex="B^2", key="start/B2"),
    count("K", "devices in S_t, whose gradients are averaged", key="participation/gradient_cohort_size"),
    common.gap_0.but(meaning="objective gap of the start, Delta", latex=r"\Delta"),
    nonnegative("grad2_0", "squared gradient norm of f at the start", GRADIENT2, r"\|\nabla f(w^0)\|^2", "start/grad2"),
    positive("eps", "target of the mean squared gradient norm", GRADIENT2, r"\varepsilon"),
    common.T.but(key="", meaning="iterations (two communications each)", index=True),
)  # fmt: skip
L, L_f, lam, mu, gamma, B2, K, gap_0, grad2_0, eps, T = (symbol.expr for symbol in NOTATION)

# Theorem 6 needs one B^2 for all points of a run.
B2_EVERYWHERE = Symbol("B2", "squared dissimilarity B^2 of the devices at every point", ONE, low=Fraction(1),
                       latex="B^2", key="clients/B2_without_G2")  # fmt: skip


def zero_in(expr: Any, symbol: Any) -> Any:
    """The value of a symbol at which an expression that is linear in it vanishes."""
    return -expr.subs(symbol, 0) / sp.diff(expr, symbol)


# rho of Theorem 3 and of Theorem 5, as printed: an iteration decreases f by rho |grad f|^2 or more
rho_3 = (
    (2 - 3 * gamma) / (2 * mu)
    - (2 * L * (1 + gamma) ** 2 + 3 * L) / (2 * mu**2)
    - (B2 - 1) * ((L * (1 + gamma) ** 2 + L) / mu**2 + gamma / mu)
)
rho_5 = (
    1 / mu
    - 3 * gamma / (2 * (mu - lam))
    - L * (1 + gamma) ** 2 / (mu - lam) ** 2
    - 3 * L / (2 * mu * (mu - lam))
    - (B2 - 1) * (L * (1 + gamma) ** 2 / (mu - lam) ** 2 + L / (mu * (mu - lam)) + gamma / (mu - lam))
)
V = (B2 - 1) / K  # bounds E|g - grad f|^2/|grad f|^2 for K draws with replacement
rho_5_sharp = (
    1 / mu
    - (L / (2 * mu * (mu - lam)) + gamma / (2 * (mu - lam))) * (2 + V)
    - L * (1 + gamma) ** 2 * (1 + V) / (2 * (mu - lam) ** 2)
)
FEDDANE = Algorithm("feddane", ("mu",), any_value=("K", "participation", "same"))
COHORTS = "S_t, S'_t and the local solvers"  # what expectations are over
ONE_ITERATION: dict[str, Any] = {
    "symbols": NOTATION,
    "metric": Metric.last("gap", VALUE, rounds=1, expectation=COHORTS),
    "algorithm": FEDDANE,
    "trivial": gap_0,
    "belief": Belief.TRUE,
}
ABOVE_CURVATURE = Condition("proximal weight", mu > lam, "the local subproblems are strongly convex")

# Why the sharp readings replace the bound of E|g|^2.
FACTOR_2 = (
    "The proof bounds |g|^2 by 2 |grad f|^2 + 2 |g - grad f|^2 (10), although E|g|^2 is |grad f|^2 + E|g - grad f|^2 "
    "exactly once E g = grad f"
)
MORE_DEVICES = FACTOR_2 + "; and with K draws with replacement E|g - grad f|^2 is at most (B^2 - 1) |grad f|^2/K"
