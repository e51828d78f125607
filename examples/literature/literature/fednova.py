"""Where FedNova ends on two quadratics of one curvature whose clients take different numbers of local steps."""

from __future__ import annotations

import sympy as sp

from boundcheck.theory.assumptions import plain_mean, smooth_samples, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2, ONE
from boundcheck.theory.statement import Algorithm, Belief, Condition, Kind, Metric, Source
from boundcheck.theory.symbols import Symbol
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import NOTATION, OF_SAMPLES, WANG, L, R, count, eta_l, mu, n, sigma2

STEPS = [count(f"t_{i}", f"local steps of client {i}", "") for i in (1, 2)]
M = Symbol("M", "variance of the participation, 0 for all clients", ONE, low=0, key="participation/M")
ETA_G = Symbol("eta_g", "server step size", ONE, low=0, low_open=True, key="method/eta_g")
t_1, t_2 = (s.expr for s in STEPS)
one_step = eta_l / sp.Max(t_1, t_2)  # eta_l is the total step of the client with the most steps
b_1, b_2 = ((1 - (1 - one_step * L) ** t) / t for t in (t_1, t_2))

theorem = Theorem(
    source=Source(WANG, "Lemma 1, for normalised averaging", "Section 3.1; the lemma itself is about FedAvg"),
    title="Limit of FedNova on two clients with the same curvature",
    symbols=(*NOTATION, *OF_SAMPLES, *STEPS, M, ETA_G),
    algorithm=Algorithm("fedshuffle_nova_rr", ("eta_l", "eta_g")),
    metric=Metric("dist2", LENGTH2, index="R", rounds=R),
    kind=Kind.LIMIT,
    assumptions=(plain_mean, strongly_convex_samples, smooth_samples),
    conditions=(
        *(Condition("two clients", sp.Eq(n, 2)), Condition("one curvature", sp.Eq(mu, L))),
        *(Condition("all clients", sp.Le(M.expr, 0)), Condition("server step size", sp.Eq(ETA_G.expr, 1))),
        Condition("step size", eta_l * L <= 1),
    ),
    bound=((b_2 - b_1) / (b_1 + b_2)) ** 2 * sigma2 / mu**2,
    belief=Belief.OPEN,
    readings={"as_printed": Reading(remark="From memory of the lemma's computation; confirmed on exact runs.")},
)
