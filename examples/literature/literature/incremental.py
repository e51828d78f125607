"""Incremental gradient descent, passes in one fixed order; with a lost n its bound is that of random reshuffling."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import plain_mean, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import MU_AT_MOST_L, NOTATION, OF_SAMPLES, SHUFFLING, E, L, dist2_0, eta, mu, n, sigma2

K = common.K.expr
bias, noise = (1 - eta * mu) ** (n * K) * dist2_0, eta**2 * L * n * sigma2 / (4 * mu)

theorem = Theorem(
    source=Source(SHUFFLING, "Theorem 1", "its proof, for the worst order: partial sums are at most n sqrt(sigma2)/2"),
    title="Incremental gradient descent; the functions f_i are clients, K counts passes",
    symbols=(*NOTATION, *OF_SAMPLES, common.K),
    algorithm=Algorithm("scgd", ("E", "eta")),
    metric=Metric("dist2", LENGTH2, index="K", rounds=n * K),
    domain=(MU_AT_MOST_L,),
    assumptions=(plain_mean, smooth_samples, strongly_convex_samples),
    conditions=(Condition("step size", eta * L <= 1), Condition("one step of each f_i", sp.Eq(E, 1))),
    trivial=dist2_0,
    readings={
        "as_printed": Reading(bias + n * noise, belief=Belief.TRUE),
        "lost_n": Reading(
            bias + 2 * noise,
            belief=Belief.FALSE,
            replaces="n^2/4 by n/2",
            why="Folklore: n/2 is the factor of random reshuffling; a bad fixed order needs n^2/4.",
        ),
    },
)
