"""Local gradient descent on different data: the case of local SGD without noise."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import averages_uniformly, convex_clients, plain_mean, smooth_clients
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KHALED, NOISE, NOTATION, L, count, dist2_0, eta, k, sigma2

H = count("H", "steps between two averages", "method/tau")
M = count("M", "workers", "clients/m")
gap = H.expr - 1
SMALL = Condition("step size", sp.Le(eta * sp.Max(4 * L, 8 * L * gap), 1))

theorem = Theorem(
    source=Source(KHALED, "Theorem 5", "Section 5; sigma_dif^2 without noise is the mean |grad f_i(x*)|^2"),
    title="Local SGD on different data, convex, with full gradients",
    symbols=(*(s.but(low=1) if s.name == "k" else s for s in NOTATION), NOISE, H, M),
    algorithm=Algorithm("periodic_averaging", ("H", "eta")),
    metric=Metric("gap", VALUE, index="k", rounds=k, average="mean"),
    assumptions=(plain_mean, averages_uniformly, smooth_clients, convex_clients),
    conditions=(SMALL, Condition("full gradients", sp.Le(NOISE.expr, 0))),
    bound=4 * dist2_0 / (eta * k) + 20 * eta * sigma2 / M.expr + 16 * eta**2 * L * gap**2 * sigma2,
    trivial=L * dist2_0 / 2,
    belief=Belief.OPEN,
    readings={"as_printed": Reading(remark="From memory of the paper; confirmed on exact runs.")},
)
