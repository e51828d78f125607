"""Theorem 5: Theorem 3 for devices that need not be convex; lam bounds the negative curvature of all of them."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

ASSUMPTIONS = (smooth_clients, lower_curvature, dissimilarity_at_start, inexact_solves, unbiased_gradient_cohort)

rho_any_cohort = (
    1 / mu
    - (L / (2 * mu * (mu - lam)) + gamma / (2 * (mu - lam))) * (B2 + 1)
    - L * (1 + gamma) ** 2 * B2 / (2 * (mu - lam) ** 2)
)

theorem = Theorem(
    **ONE_ITERATION,
    source=Source(PAPER, "Theorem 5", "Section IV-B; proof in Appendix V-E"),
    title="Sufficient decrease of an iteration of FedDANE, non-convex devices",
    assumptions=ASSUMPTIONS,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=gap_0 - rho_5 * grad2_0,
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho_5 > 0, "rho > 0", vacuity=True)),
            remark="'Non-convex' is 'possibly non-convex', and lam*I + Hessian need only be positive semidefinite. The "
            "proof treats one device; averaging the quadratic upper model of f over S'_t covers any number, without "
            "convexity of f.",
        ),
        "sharp_any_cohort": Reading(
            bound=gap_0 - rho_any_cohort * grad2_0,
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho_any_cohort > 0, "rho > 0", vacuity=True)),
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by B^2 |grad f|^2",
            why=FACTOR_2 + "; Jensen's inequality bounds it for every unbiased plain mean.",
        ),
        "sharp": Reading(
            bound=gap_0 - rho_5_sharp * grad2_0,
            conditions=(ABOVE_CURVATURE, Condition("positive decrease", rho_5_sharp > 0, "rho > 0", vacuity=True)),
            assumptions=(*ASSUMPTIONS, gradient_cohort_variance),
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=MORE_DEVICES + ".",
        ),
    },
)
