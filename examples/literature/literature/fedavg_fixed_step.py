"""FedAvg with full gradients and a fixed step: false as a rate to the minimiser, true where all clients are alike."""

from __future__ import annotations

from boundcheck.theory.assumptions import iid_clients, plain_mean, smooth_clients, strongly_convex_samples
from boundcheck.theory.dimension import LENGTH2
from boundcheck.theory.statement import Algorithm, Belief, Condition, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

from .definitions import LI_AVG, MU_AT_MOST_L, NOTATION, OF_SAMPLES, E, L, R, dist2_0, eta, mu

SMOOTH = (plain_mean, smooth_clients, strongly_convex_samples)

theorem = Theorem(
    source=Source(LI_AVG, "Theorem 4", "refutes this folklore"),
    title="FedAvg with a fixed step converges to the minimiser",
    symbols=(*NOTATION, OF_SAMPLES[1]),
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric("dist2", LENGTH2, index="R", rounds=R),
    domain=(MU_AT_MOST_L,),
    assumptions=SMOOTH,
    conditions=(Condition("step size", eta * L <= 1),),
    trivial=dist2_0,
    bound=(1 - eta * mu) ** (2 * E * R) * dist2_0,
    readings={
        "as_printed": Reading(belief=Belief.FALSE),
        "corrected": Reading(
            belief=Belief.TRUE,
            assumptions=(iid_clients, *SMOOTH),
            replaces="any clients by clients with one objective",
            why="Then a round is E steps of gradient descent; heterogeneous clients pull the limit away.",
        ),
    },
)
