"""FedProx: the decrease of one round, clients that need not be convex."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import dissimilarity_at_start, inexact_solves, lower_curvature, smooth_clients
from boundcheck.theory.dimension import CURVATURE, GRADIENT2, ONE, VALUE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import GAMMA, LI_PROX, NOTATION, PROX, L, count, gap_0

K = count("K", "devices in a round", "participation/cohort_size")
LAM = Symbol("lam", "lam*I + Hessian of every f_i is positive semidefinite", CURVATURE, key="clients/lambda")
B2 = Symbol("B2", "squared dissimilarity B^2 of the devices at the start", ONE, low=1, key="start/B2")
GRAD2 = Symbol("grad2_0", "squared gradient norm of F at the start", GRADIENT2, low=0, key="start/grad2")
mu, K_, B, solved = PROX.expr, K.expr, sp.sqrt(B2.expr), 1 + GAMMA.expr
bar = mu - LAM.expr  # of the strongly convex subproblem
decrease = (1 - GAMMA.expr * B) / mu - B * solved * sp.sqrt(2) / (bar * sp.sqrt(K_)) - L * B * solved / (bar * mu)
decrease -= L * solved**2 * B2.expr / (2 * bar**2)
decrease -= L * B2.expr * solved**2 / (bar**2 * K_) * (2 * sp.sqrt(2 * K_) + 2)

theorem = Theorem(
    source=Source(LI_PROX, "Theorem 4", "read in a summary that quotes it"),
    title="Sufficient decrease of a round of FedProx",
    symbols=(*NOTATION, PROX, GAMMA, K, LAM, B2, GRAD2),
    algorithm=Algorithm("fedprox", ("rho",)),
    metric=Metric("gap", VALUE, rounds=sp.S.One, expectation="over the devices of the round"),
    assumptions=(smooth_clients, lower_curvature, dissimilarity_at_start, inexact_solves),
    conditions=(Condition("subproblem", bar > 0), Condition("decrease", decrease > 0, vacuity=True)),
    bound=gap_0 - decrease * GRAD2.expr,
    trivial=gap_0,
    belief=Belief.OPEN,
    readings={"as_printed": Reading()},
)
