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
SMALL = sp.Le(eta_l * K.expr * ETA_G.expr * sp.Max(81 * L, 15 * mu * n / S.expr), 1)

theorem = Theorem(
    source=Source(KARIMIREDDY, "Lemma 13, summed up", "Appendix D.2, without noise; controls start at 0"),
    title="SCAFFOLD with sampled clients on strongly convex functions, full gradients",
    symbols=(*NOTATION, OF_SAMPLES[1], K, S, ETA_G),
    algorithm=Algorithm("scaffold_option_1", ("K", "eta_l", "eta_g", "S")),
    metric=Metric("dist2", LENGTH2, index="R", rounds=R, expectation="over the clients of the rounds"),
    assumptions=(plain_mean, smooth_clients, convex_clients, strongly_convex_samples),
    conditions=(Condition("step size", SMALL),),
    bound=(1 - mu * step / 2) ** R * (dist2_0 + 9 * n * step**2 / S.expr * sigma2),
    trivial=dist2_0,
    belief=Belief.OPEN,
    readings={"as_printed": Reading(remark="From memory of the paper; confirmed on exact runs.")},
)
