"""Theorem 6: if Theorem 5 holds in every iteration, the mean squared gradient norm of T iterations is O(1/T)."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

ASSUMPTIONS = (
    smooth_clients,
    lower_curvature,
    bounded_dissimilarity,
    bounded_below,
    inexact_solves,
    unbiased_gradient_cohort,
)
ABOVE_CURVATURE = Condition("proximal weight", mu > lam, "the local subproblems are strongly convex")

# rho of Theorem 5, as printed and sharp
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

B_AT_ALL_POINTS = (
    "B bounds the dissimilarity at every point that the run can reach; a B for all points forces all grad F_k to "
    "vanish wherever grad f does."
)

theorem = Theorem(
    source=Source(PAPER, "Theorem 6", "Section IV-B"),
    title="Mean squared gradient norm of T iterations of FedDANE",
    symbols=(*NOTATION, B2_EVERYWHERE),
    metric=Metric.mean("grad2", GRADIENT2, index=T, expectation="S_t, S'_t and the local solvers"),
    algorithm=Algorithm("feddane", ("mu",), any_value=("K", "participation", "same")),
    conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho > 0, "rho > 0", vacuity=True)),
    assumptions=ASSUMPTIONS,
    belief=Belief.TRUE,
    printed_rate=1 / T,
    readings={
        "corrected": Reading(
            bound=gap_0 / (rho * T),
            replaces="O(.) by its constant, and the indices t = 1, ..., T by t = 0, ..., T - 1",
            why="Summing the decrease of the iterations 1, ..., T telescopes over the points w^0, ..., w^{T-1}, and f "
            "is at least f*, which must be finite.",
            remark=B_AT_ALL_POINTS,
        ),
        "as_printed": Reading(
            # (T + 1)/T times the mean over t = 0, ..., T is the mean over t = 1, ..., T plus grad2_0/T
            metric=Metric.mean(
                "grad2",
                GRADIENT2,
                index=T,
                rounds=T + 1,
                scale=(T + 1) / T,
                expectation="S_t, S'_t and the local solvers",
            ),
            bound=gap_0 / (rho * T) + grad2_0 / T,
            remark="The mean over t = 1, ..., T, with 1 as the constant of O(.): both sides carry grad2_0/T more than "
            "printed, since the mean over t = 0, ..., T is compared. The decrease is needed at w^T too. "
            + B_AT_ALL_POINTS,
        ),
        "sharp": Reading(
            bound=gap_0 / (rho_sharp * T),
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho_sharp > 0, "rho > 0", vacuity=True)),
            assumptions=(*ASSUMPTIONS, gradient_cohort_variance),
            replaces="Theorem 5's rho by its sharp reading",
            why=FACTOR_2 + "; and with K draws with replacement E|g - grad f|^2 is at most (B^2 - 1) |grad f|^2/K.",
            remark=B_AT_ALL_POINTS,
        ),
    },
)
