"""One step of SGD as a composition that leaves participation and sampling open."""

import sympy as sp

from boundcheck.theory.assumptions import finite_gradient_noise, plain_mean, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

SYMBOLS = (
    *(common.L.but(key="samples/L"), common.mu.but(key="samples/mu", low_open=False)),
    *(common.eta.but(key="method/eta"), common.dist2_0, common.sigma2),
)
L, mu, eta, d0, v2 = (s.expr for s in SYMBOLS)
theorem = Theorem(
    source=Source("PEPit sgd.py", "code of PESTO", ""),
    title="One step of SGD",
    symbols=SYMBOLS,
    algorithm=Algorithm("composed", ("eta",)),
    metric=Metric("dist2", LENGTH2, rounds=sp.S.One, expectation="over i"),
    domain=(mu <= L,),
    assumptions=(plain_mean, smooth_samples, strongly_convex_samples, finite_gradient_noise),
    conditions=(Condition("step", eta * L <= 1),),
    readings={
        "as_printed": Reading(
            (eta * (L - mu) / 2 * sp.sqrt(d0) + sp.sqrt((1 - eta * (L + mu) / 2) ** 2 * d0 + eta**2 * v2)) ** 2,
            belief=Belief.TRUE,
        )
    },
)
