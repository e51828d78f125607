"""SGD under the variance of the samples at the minimiser."""

from __future__ import annotations

from boundcheck.theory.assumptions import averages_as_objective, convex_samples, smooth_samples, strong_quasi_convexity
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import AT_MINIMUM, GOWER, MU_AT_MOST_L, NOTATION, OF_SAMPLES, L, dist2_0, eta, k, mu

noise = AT_MINIMUM.expr

theorem = Theorem(
    source=Source(GOWER, "Theorem 3.1", "uniform sampling"),
    title="SGD on convex samples",
    symbols=(*NOTATION, OF_SAMPLES[0], AT_MINIMUM),
    algorithm=Algorithm("sync_sgd", ("eta",)),
    metric=Metric("dist2", LENGTH2, index="k", rounds=k, expectation="over the samples"),
    domain=(MU_AT_MOST_L,),
    assumptions=(averages_as_objective, smooth_samples, convex_samples, strong_quasi_convexity),
    conditions=(Condition("step size", eta <= 1 / (2 * L)),),
    trivial=dist2_0,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading((1 - eta * mu) ** k * dist2_0 + 2 * eta * noise / mu),
        "quarter": Reading(
            (1 - eta * mu) ** k * dist2_0 + eta * noise / (2 * mu),
            belief=Belief.FALSE,
            replaces="2 by 1/2",
            why="Planted: a noise that is alike at all points gives eta noise/(mu (2 - eta mu)) in the end.",
        ),
    },
)
