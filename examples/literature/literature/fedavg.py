"""FedAvg with all devices, decreasing steps and full gradients on strongly convex functions."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import GRADIENT2, ONE, VALUE
from boundcheck.theory.statement import ITERATION, Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import LI_AVG, NOTATION, OF_SAMPLES, E, L, R, dist2_0, gap_0, mu

GAMMA = Symbol("Gamma", "F* minus the weighted mean of the minima of the F_i", VALUE, low=0)
G2 = Symbol("G2", "bound of the squared gradients of the devices along the run", GRADIENT2, low=0)
M = Symbol("M", "variance of the participation, 0 for all devices", ONE, low=0, key="participation/M")
kappa = L / mu
gamma = sp.Max(8 * kappa, E)
B = 6 * L * GAMMA.expr + 8 * (E - 1) ** 2 * G2.expr  # the noise of full gradients is 0

theorem = Theorem(
    source=Source(LI_AVG, "Theorem 1", "equations (4) and (5); T - 1 = R E steps from w_1, t counted from 1"),
    title="FedAvg with all devices and decreasing steps",
    symbols=(*NOTATION, *OF_SAMPLES, GAMMA, G2, M),
    algorithm=Algorithm("fedavg", ("E",), steps=(("eta", 2 / (mu * (gamma + 1 + ITERATION))),)),
    metric=Metric("gap", VALUE, index="R", rounds=R),
    assumptions=(smooth_samples, strongly_convex_samples),
    conditions=(Condition("all devices", sp.Le(M.expr, 0)),),
    bound=kappa / (gamma + R * E) * (2 * B / mu + mu * gamma * dist2_0 / 2),
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={"as_printed": Reading()},
)
