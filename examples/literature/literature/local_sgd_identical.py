"""Local SGD where all workers have the same data, strongly convex case."""

from __future__ import annotations

from boundcheck.theory.assumptions import (
    averages_uniformly,
    block_variance,
    iid_clients,
    smooth_samples,
    strongly_convex_samples,
)
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KHALED, MU_AT_MOST_L, NOISE, NOTATION, OF_SAMPLES, L, count, dist2_0, eta, k, mu

H = count("H", "steps between two averages", "method/tau")
M = count("M", "workers", "clients/m")
nu2 = NOISE.expr

theorem = Theorem(
    source=Source(KHALED, "Theorem 1", "Section 4"),
    title="Local SGD on identical data, strongly convex",
    symbols=(*NOTATION, *OF_SAMPLES, NOISE, H, M),
    algorithm=Algorithm("periodic_averaging", ("H", "eta")),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    domain=(MU_AT_MOST_L,),
    assumptions=(iid_clients, averages_uniformly, block_variance, smooth_samples, strongly_convex_samples),
    conditions=(Condition("step size", eta <= 1 / (4 * L)),),
    bound=(1 - eta * mu) ** k * dist2_0 + eta * nu2 / (mu * M.expr) + 2 * L * eta**2 * (H.expr - 1) * nu2 / mu,
    trivial=dist2_0,
    belief=Belief.OPEN,
    readings={"as_printed": Reading(remark="From memory of the paper; confirmed on exact runs.")},
)
