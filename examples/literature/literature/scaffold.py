"""SCAFFOLD with full gradients and sampled clients, strongly convex: what one round's progress adds up to."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import convex_clients, plain_mean, smooth_clients, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KARIMIREDDY, NOTATION, OF_SAMPLES, L, R, count, dist2_0, eta_l, mu, n, sigma2

K = count("K", "local steps", "method/E")
S = count("S", "clients in a round", "method/size")
ETA_G = Symbol("eta_g", "server step size", ONE, low=1, key="method/eta_g")
step = K.expr * eta_l * ETA_G.expr  # of a round
share = S.expr / n


def small(share):
    """The condition on the step size."""
    return (Condition("step size", sp.Le(step * sp.Max(81 * L, 15 * mu / share), 1)),)


def bound(weight):
    """The bound with this weight of the control variates."""
    return (1 - mu * step / 2) ** R * (dist2_0 + weight * step**2 * sigma2)


theorem = Theorem(
    source=Source(KARIMIREDDY, "Lemma 13, summed up", "Appendix D.2, without noise; controls start at 0"),
    title="SCAFFOLD with sampled clients on strongly convex functions, full gradients",
    symbols=(*NOTATION, OF_SAMPLES[1], K, S, ETA_G),
    algorithm=Algorithm("scaffold_option_1", ("K", "eta_l", "eta_g", "S")),
    metric=Metric("dist2", LENGTH2, index="R", rounds=R, expectation="over the clients of the rounds"),
    assumptions=(plain_mean, smooth_clients, convex_clients, strongly_convex_samples),
    conditions=small(share),
    trivial=dist2_0,
    belief=Belief.OPEN,
    readings={
        "as_printed": Reading(bound(9 / share), remark="From memory of the paper; confirmed on exact runs."),
        "without_share": Reading(
            bound(9),
            algorithm=Algorithm("scaffold_option_1", ("K", "eta_l", "eta_g"), any_value=("K", "participation")),
            conditions=small(1),
            belief=Belief.FALSE,
            replaces="|S|/n by 1",
            why="Planted: a client's control variate waits n/|S| rounds for its first value.",
        ),
        "without_weight": Reading(
            bound(1),
            algorithm=Algorithm("scaffold_option_1", ("K", "eta_l", "eta_g"), any_value=("K", "participation")),
            conditions=small(1),
            belief=Belief.FALSE,
            replaces="|S|/n by 1 and 9 by 1",
            why="Planted: as without_share, and broken by fewer clients.",
        ),
    },
)
