"""Nesterov's method with a constant momentum, printed without mu/2 |x0 - x*|^2: false."""

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import ONE, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Metric, Source
from boundcheck.theory.symbols import Symbol, common
from boundcheck.theory.theorem import Reading, Theorem

BETA = Symbol("beta", "momentum", ONE, low=0, high=1, high_open=True, key="method/momentum_g")
SYMBOLS = (
    *(common.L.but(key="samples/L"), common.mu.but(key="samples/mu"), common.eta, common.k),
    *(common.gap_0, BETA),
)
L, mu, eta, k, g0, beta = (s.expr for s in SYMBOLS)
theorem = Theorem(
    source=Source("lecture notes (misprint)", "rate of NAG", "from memory"),
    title="Nesterov's method with constant momentum, gap alone",
    symbols=SYMBOLS,
    algorithm=Algorithm("nesterov", ("eta", "beta")),
    metric=Metric("gap", VALUE, index="k", rounds=k),
    domain=(mu <= L, sp.Gt(mu, 0)),
    assumptions=(smooth_samples, strongly_convex_samples),
    choices=(("eta", 1 / L), ("beta", (sp.sqrt(L) - sp.sqrt(mu)) / (sp.sqrt(L) + sp.sqrt(mu)))),
    trivial=g0,
    readings={"as_printed": Reading((1 - sp.sqrt(mu / L)) ** k * g0, belief=Belief.FALSE)},
)
