"""Notation of the paper on partial model averaging.

Sunwoo Lee, Anit Kumar Sahu, Chaoyang He, Salman Avestimehr, "Partial Model Averaging in Federated Learning: Performance
Guarantees and Benefits".

u_k is the average of the m models at iteration k, u_1 the common start, so that the paper's average over k = 1, ..., K
is one over r = 0, ..., K - 1 finished rounds. Squares are symbols where the paper squares a letter (sigma2, beta2,
kappa2), and so are its sums over the blocks (sum_L_sigma2 = sum of L_j sigma_j^2).

Assumption 1, "f is L_j-smooth for all x_j", has four readings with different constants L_j:

    blocks     |grad_j f(x) - grad_j f(y)| <= L_j |x - y| where x and y differ in block j alone; the printed words
    separable  |grad_j f(x) - grad_j f(y)| <= L_j |x_j - y_j| for all x and y
    weighted   |grad f(x) - grad f(y)|^2 <= sum of L_j^2 |x_j - y_j|^2
    global     |grad f(x) - grad f(y)| <= L |x - y|; L is taken for every L_j, and Assumption 4 for the whole gradient

The declarations in NOTATION are those of the reading "blocks"; SEPARABLE, WEIGHTED and GLOBAL replace them.
"""

from boundcheck.theory.declare import *

PAPER = Paper(
    "Partial Model Averaging in Federated Learning: Performance Guarantees and Benefits",
    ("Sunwoo Lee", "Anit Kumar Sahu", "Chaoyang He", "Salman Avestimehr"), 2022, arxiv="2201.03789",
)  # fmt: skip


NOTATION = (
    count("m", "workers (local models)", key="clients/m"),
    count("tau", "averaging interval: every number is averaged in tau iterations", latex=r"\tau", key="method/tau"),
    common.eta,
    count("K", "iterations", index=True),
    nonnegative("Lmax", "largest smoothness constant L_j of a block", CURVATURE, r"L_{\max}", "blocks/Lmax_blocks"),
    positive("sum_p2", "sum of the squares of the clients' weights p_i", latex=r"(\sum_i p_i^2)", key="clients/sum_p2"),
    common.sigma2.but(key="blocks/sigma2", meaning="sum over the blocks of sigma_j^2, the variance of a step"),
    nonnegative("sum_L_sigma2", "sum over the blocks of L_j sigma_j^2", CURVATURE * GRADIENT2,
                r"(\sum_j L_j\sigma_j^2)", "blocks/sum_L_sigma2_blocks"),
    nonnegative("sum_L2_sigma2", "sum over the blocks of L_j^2 sigma_j^2", CURVATURE * CURVATURE * GRADIENT2,
                r"(\sum_j L_j^2\sigma_j^2)", "blocks/sum_L2_sigma2_blocks"),
    Symbol("beta2", "factor beta^2 of the clients' dissimilarity", ONE, low=Fraction(1), latex=r"\beta^2",
           key="blocks/beta2"),
    nonnegative("kappa2", "additive constant kappa^2 of the clients' dissimilarity", GRADIENT2, r"\kappa^2",
                "blocks/kappa2"),
    nonnegative("sum_L2_kappa2", "sum over the blocks of L_j^2 kappa_j^2", CURVATURE * CURVATURE * GRADIENT2,
                r"(\sum_j L_j^2\kappa_j^2)", "blocks/sum_L2_kappa2_blocks"),
    common.gap_0.but(meaning="objective gap F(u_1) - inf F of the common start"),
    nonnegative("d", "numbers of a model", ONE, integer=True, key="objective/dimension"),
    positive("eta_unit", "unit of the step size, which is eta_unit*sqrt(m/K)", STEP, r"\eta_1", free=True),
)  # fmt: skip
m, tau, eta, K, Lmax, sum_p2, sigma2, *_others = (symbol.expr for symbol in NOTATION)
sum_L_sigma2, sum_L2_sigma2, beta2, kappa2, sum_L2_kappa2, gap_0, d, eta_unit = _others  # noqa: N816

SEPARABLE, WEIGHTED = (
    tuple(s.but(key=s.key.removesuffix("blocks") + reading) for s in NOTATION if s.key.endswith("_blocks"))
    for reading in ("separable", "weighted")
)
_DECLARED = {symbol.name: symbol for symbol in NOTATION}
GLOBAL = (
    _DECLARED["Lmax"].but(meaning="smoothness constant of all clients, taken for every block",
                          key="blocks/Lmax_global"),
    _DECLARED["beta2"].but(key="blocks/beta2_whole"),
    _DECLARED["kappa2"].but(key="blocks/kappa2_whole"),
)  # fmt: skip

# Assumptions 1 to 4 on data that differ, in three of these readings
PRINTED = (smooth_blocks, block_variance, block_dissimilarity, averages_uniformly, bounded_below)
PRINTED_SEPARABLE = (smooth_separable, block_variance, block_dissimilarity, averages_uniformly, bounded_below)
ONE_CONSTANT = (smooth_globally, block_variance, total_dissimilarity, averages_as_objective, bounded_below)

BLOCK_AVERAGING = Algorithm("block_averaging", ("tau", "eta"), any_value=("partition", "order"))

# Theorem 2: the terms that the start and the distance of the models contribute; the latter also with one constant L
start_term = 4 * gap_0 / (eta * K)
distance_terms = 3 * eta**2 * (tau - 1) * sum_L2_sigma2 + 6 * eta**2 * tau * (tau - 1) * sum_L2_kappa2
distance_terms_one_constant = (
    3 * eta**2 * (tau - 1) * Lmax**2 * sigma2 + 6 * eta**2 * tau * (tau - 1) * Lmax**2 * kappa2
)
# its step condition eta <= (1/Lmax) min(1, 1/sqrt(2 tau (tau - 1) (2 beta^2 + 1))), without a division by 0 at tau = 1
INTERVAL = Condition("step size and interval", 2 * tau * (tau - 1) * (2 * beta2 + 1) * (eta * Lmax) ** 2 <= 1)

# Remarks 2 and 4 tune the step size to a number of iterations that is set beforehand.
HORIZON = count("K", "iterations, set beforehand", free=True)

# Reasons that several statements share.
COUPLED = (
    "Where blocks are coupled, (19) loses up to a factor tau and (30) up to tau^2: with F = |1'x|^2/2, blocks of one "
    "number and noise along (1, ..., 1), L_j is 1 but F is smooth with tau alone, and for small steps the left side is "
    "about tau/2 times the bound. (19) and (30) need one inequality over all blocks"
)
WEIGHTED_IS_ENOUGH = (
    f"{COUPLED}: |grad F(x) - grad F(y)|^2 <= sum of L_j^2 |x_j - y_j|^2. It gives (30) as it stands, and the descent "
    "lemma (19), because H^2 <= diag(L_j^2 I) implies H <= diag(L_j I)"
)
UNITS = (
    "The printed step sqrt(m/K) has no unit, where a step size has that of 1/L; a factor eta_unit gives it one, "
    "without which scaling F changes what is claimed"
)
