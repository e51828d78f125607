"""One round of FedAvg with two local steps: a tight bound, attained by two clients of different curvature."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import plain_mean, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import KHALED, MU_AT_MOST_L, NOTATION, OF_SAMPLES, E, L, dist2_0, eta, mu, sigma2

drift = eta**2 * (L - mu) / 2 * sp.sqrt(sigma2)

theorem = Theorem(
    source=Source(KHALED, "Section 5, sharpened for two steps", "own derivation; sigma_dif^2 is sigma2"),
    title="One round of FedAvg with two local steps and full gradients",
    symbols=(*NOTATION, *OF_SAMPLES),
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric("dist2", LENGTH2, rounds=sp.S.One),
    domain=(MU_AT_MOST_L,),
    assumptions=(plain_mean, smooth_samples, strongly_convex_samples),
    conditions=(Condition("step size", eta * L <= 1), Condition("two local steps", sp.Eq(E, 2))),
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(((1 - eta * mu) ** 2 * sp.sqrt(dist2_0) + drift) ** 2),
        "half": Reading(
            ((1 - eta * mu) ** 2 * sp.sqrt(dist2_0) + drift / 2) ** 2,
            belief=Belief.FALSE,
            replaces="the drift by half of it",
            why="Planted: two clients of the curvatures mu and L attain the drift.",
        ),
    },
)
