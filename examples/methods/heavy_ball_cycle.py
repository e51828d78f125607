"""Polyak's rate of heavy ball, which holds on quadratics, stated for all smooth strongly convex functions: false.

L. Lessard, B. Recht, A. Packard, "Analysis and Design of Optimization Algorithms via Integral Quadratic Constraints",
2016, Section 4.6: on a piecewise quadratic function the method falls into a cycle of period 3.
"""

from fractions import Fraction

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (
    common.mu.but(key="samples/mu", meaning="strong convexity constant of every sample's loss"),
    common.L.but(key="samples/L", meaning="smoothness constant of every sample's loss"),
    common.eta,
    Symbol("beta", "momentum", ONE, low=Fraction(0), high=Fraction(1), high_open=True, key="method/momentum_g"),
    common.dist2_0,
    common.k,
)
mu, L, eta, beta, dist2_0, k = (symbol.expr for symbol in SYMBOLS)
root = (sp.sqrt(L) - sp.sqrt(mu)) / (sp.sqrt(L) + sp.sqrt(mu))

theorem = Theorem(
    source=Source("Integral Quadratic Constraints (Lessard, Recht, Packard)", "Section 4.6", "the rate on quadratics"),
    title="Heavy ball at its rate on quadratics",
    symbols=SYMBOLS,
    algorithm=Algorithm("heavy_ball", ("eta", "beta")),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k),
    domain=(sp.Le(mu, L),),
    assumptions=(strongly_convex_samples, smooth_samples),
    choices=(("eta", 4 / (sp.sqrt(L) + sp.sqrt(mu)) ** 2), ("beta", root**2)),
    trivial=dist2_0,
    readings={"as_printed": Reading((1 + 2 * k) ** 2 * root ** (2 * k) * dist2_0, belief=Belief.FALSE)},
)
