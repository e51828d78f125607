"""SVRG on a mean of smooth convex functions, with a random point as the next reference (option II)."""

from __future__ import annotations

from boundcheck.theory.assumptions import convex_clients, plain_mean, smooth_clients, strong_quasi_convexity
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import JOHNSON, NOTATION, L, count, eta, gap_0, mu
from .definitions import k as stage

m = count("m", "steps between two references", "method/inner")
factor = 1 / (mu * eta * (1 - 2 * L * eta) * m.expr) + 2 * L * eta / (1 - 2 * L * eta)

theorem = Theorem(
    source=Source(JOHNSON, "Theorem 1", "read in lecture notes that quote it, Theorem 12.11 there"),
    title="SVRG, option II; the functions f_i are clients of one sample each, k counts references",
    symbols=(*NOTATION, m),
    algorithm=Algorithm("svrg_random", ("eta", "m")),
    metric=Metric("gap", VALUE, index="k", rounds=stage * m.expr, expectation="over functions and references"),
    assumptions=(plain_mean, smooth_clients, convex_clients, strong_quasi_convexity),
    conditions=(Condition("step size", 2 * L * eta < 1), Condition("contraction", factor < 1, vacuity=True)),
    bound=factor**stage * gap_0,
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading()},
)
