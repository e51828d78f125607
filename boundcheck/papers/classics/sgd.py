"""Synchronous SGD with bounded variance on smooth functions: convex, bounded below, and strongly (quasi-)convex."""

from boundcheck.papers.classics.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {"symbols": NOTATION, "algorithm": Algorithm("sync_sgd", ("eta",)), "belief": Belief.TRUE}

theorems = {
    "sgd_convex": Theorem(
        **SHARED,
        source=Source(NEMIROVSKI, "SGD, convex", "Section 2, a bound of its kind"),
        title="Mean gap of SGD with bounded variance",
        metric=Metric.mean("gap", VALUE, index=k, expectation="over the samples"),
        assumptions=(*STOCHASTIC, convexity),
        trivial=L * dist2_0 / 2,
        printed_rate=1 / sp.sqrt(k),
        best="sharp",
        readings={
            "as_printed": Reading(
                bound=dist2_0 / (eta * k) + eta * variance,
                conditions=(Condition("step size", eta <= 1 / (2 * L), SMALL_STEP),),
            ),
            "sharp": Reading(
                bound=(dist2_0 / (eta * k) + eta * variance) / (2 * (1 - eta * L)),
                conditions=(Condition("step size", eta < 1 / L, SMALL_STEP),),
                replaces="the factor 1 by 1/(2 (1 - eta L)), which is at most 1 for eta <= 1/(2 L)",
                why="E|x+ - x*|^2 <= |x - x*|^2 - 2 eta (1 - eta L) gap + eta^2 variance, since |grad F|^2 <= 2 L gap.",
            ),
        },
    ),
    "sgd_nonconvex": Theorem(
        **SHARED,
        source=Source(GHADIMI, "Theorem 2.1", "with a constant step size, a bound of its kind"),
        title="Mean squared gradient norm of SGD with bounded variance",
        metric=Metric.mean("grad2", GRADIENT2, index=k, expectation="over the samples"),
        assumptions=(*STOCHASTIC, bounded_below),
        trivial=2 * L * gap_0,
        printed_rate=1 / sp.sqrt(k),
        best="sharp",
        readings={
            "as_printed": Reading(
                bound=2 * gap_0 / (eta * k) + eta * L * variance,
                conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
            ),
            "sharp": Reading(
                bound=(2 * gap_0 / (eta * k) + eta * L * variance) / (2 - eta * L),
                conditions=(Condition("step size", eta < 2 / L, SMALL_STEP),),
                replaces="the factor 1 by 1/(2 - eta L), which is at most 1 for eta <= 1/L",
                why="The descent lemma gives E F+ <= F - eta (1 - eta L/2) |grad F|^2 + eta^2 L variance/2.",
            ),
        },
    ),
    "sgd_strongly_convex": Theorem(
        **SHARED,
        source=Source(BOTTOU, "SGD, strongly convex", "Section 4.2, a bound of its kind"),
        title="SGD with bounded variance on a strongly quasi-convex function",
        metric=Metric.last("dist2", LENGTH2, index=k, expectation="over the samples"),
        domain=(MU_AT_MOST_L,),
        trivial=dist2_0,
        best="as_printed",
        readings={
            "as_printed": Reading(
                bound=(1 - mu * eta) ** k * dist2_0 + eta * variance / mu,
                assumptions=(*STOCHASTIC, strong_quasi_convexity),
                conditions=(Condition("step size", eta <= 1 / L, SMALL_STEP),),
            ),
            "sharp": Reading(
                bound=(1 - mu * eta) ** (2 * k) * dist2_0
                + eta * variance * (1 - (1 - mu * eta) ** (2 * k)) / (mu * (2 - mu * eta)),
                title="SGD with bounded variance on a strongly convex function",
                symbols=OF_SAMPLES,
                assumptions=(averages_as_objective, block_variance, smooth_samples, strongly_convex_samples),
                conditions=(Condition("step size", eta <= 2 / (mu + L), SMALL_STEP),),
                replaces="(1 - mu eta)^k and the floor eta variance/mu",
                why="With strong convexity a step contracts by 1 - mu eta; x'x mu/2 with constant variance attains it.",
            ),
        },
    ),
}
