"""Theorem 6: the decrease of each of its iterations, which is that of Theorem 5 with one B for all points."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

ASSUMPTIONS = (smooth_clients, lower_curvature, bounded_dissimilarity, inexact_solves, unbiased_gradient_cohort)
ABOVE_CURVATURE = Condition("proximal weight", mu > lam, "the local subproblems are strongly convex")

rho = (
    1 / mu
    - 3 * gamma / (2 * (mu - lam))
    - L * (1 + gamma) ** 2 / (mu - lam) ** 2
    - 3 * L / (2 * mu * (mu - lam))
    - (B2 - 1) * (L * (1 + gamma) ** 2 / (mu - lam) ** 2 + L / (mu * (mu - lam)) + gamma / (mu - lam))
)
V = (B2 - 1) / K  # bounds E|g - grad f|^2/|grad f|^2 for K draws with replacement
rho_sharp = (
    1 / mu
    - (L / (2 * mu * (mu - lam)) + gamma / (2 * (mu - lam))) * (2 + V)
    - L * (1 + gamma) ** 2 * (1 + V) / (2 * (mu - lam) ** 2)
)

theorem = Theorem(
    source=Source(PAPER, "Theorem 6", "Section IV-B, 'let the assumption of Theorem 5 hold at each iteration'"),
    title="Sufficient decrease of an iteration of FedDANE from any point",
    symbols=(*NOTATION, B2_EVERYWHERE),
    metric=Metric.last("gap", VALUE, rounds=1, expectation="S_t, S'_t and the local solvers"),
    algorithm=Algorithm("feddane", ("mu",), any_value=("K", "participation", "same")),
    assumptions=ASSUMPTIONS,
    trivial=gap_0,
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=gap_0 - rho * grad2_0,
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho > 0, "rho > 0", vacuity=True)),
            remark="A B for all points forces all grad F_k to vanish wherever grad f does.",
        ),
        "sharp": Reading(
            bound=gap_0 - rho_sharp * grad2_0,
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho_sharp > 0, "rho > 0", vacuity=True)),
            assumptions=(*ASSUMPTIONS, gradient_cohort_variance),
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=FACTOR_2 + "; and with K draws with replacement E|g - grad f|^2 is at most (B^2 - 1) |grad f|^2/K.",
        ),
    },
)
