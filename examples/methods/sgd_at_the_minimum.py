"""SGD under the variance of the samples at the minimiser, which is finite where that at all points is not.

R. M. Gower, N. Loizou, X. Qian, A. Sailanbayev, E. Shulgin, P. Richtarik, "SGD: General Analysis and Improved Rates",
2019, Theorem 3.1: with E|g|^2 <= 4 L (F - F*) + 2 sigma^2 of convex L-smooth samples a step shrinks |x - x*|^2 by
1 - eta mu, up to 2 eta^2 sigma^2.
"""

import sympy as sp

from boundcheck.theory.assumptions import averages_as_objective, convex_samples, smooth_samples, strong_quasi_convexity
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (
    common.mu,
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss"),
    common.sigma2.but(key="samples/sigma2_at_minimum", meaning="mean squared gradient of the samples at a minimiser"),
    common.eta,
    common.dist2_0,
    common.k,
)
mu, L, sigma2, eta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source("SGD: General Analysis and Improved Rates (Gower et al.)", "Theorem 3.1", "uniform sampling"),
    title="SGD on convex samples",
    symbols=SYMBOLS,
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    domain=(sp.Le(mu, L),),
    assumptions=(averages_as_objective, smooth_samples, convex_samples, strong_quasi_convexity),
    conditions=(Condition("step size", eta <= 1 / (2 * L)),),
    trivial=dist2_0,
    readings={"as_printed": Reading((1 - eta * mu) ** k * dist2_0 + 2 * eta * sigma2 / mu, belief=Belief.TRUE)},
)
