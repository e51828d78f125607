"""Theorem 3: for convex devices an iteration of FedDANE decreases f by rho |grad f|^2 or more, in expectation."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

ASSUMPTIONS = (convex_clients, smooth_clients, dissimilarity_at_start, inexact_solves, unbiased_gradient_cohort)

rho_any_cohort = 1 / mu - (L / (2 * mu**2) + gamma / (2 * mu)) * (B2 + 1) - L * (1 + gamma) ** 2 * B2 / (2 * mu**2)
rho_sharp = 1 / mu - (L / (2 * mu**2) + gamma / (2 * mu)) * (2 + V) - L * (1 + gamma) ** 2 * (1 + V) / (2 * mu**2)

theorem = Theorem(
    **ONE_ITERATION,
    source=Source(PAPER, "Theorem 3", "Section IV-A; proof in Appendix V-D"),
    title="Sufficient decrease of an iteration of FedDANE, convex devices",
    assumptions=ASSUMPTIONS,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=gap_0 - rho_3 * grad2_0,
            conditions=(Condition("positive decrease", rho_3 > 0, "rho > 0", vacuity=True),),
            remark="The proof writes w^t for the solution of one device; averaging the quadratic upper model of f over "
            "S'_t repairs it for every S'_t, so that S'_t need not be independent of S_t. rho does not depend on K.",
        ),
        "sharp_any_cohort": Reading(
            bound=gap_0 - rho_any_cohort * grad2_0,
            conditions=(Condition("positive decrease", rho_any_cohort > 0, "rho > 0", vacuity=True),),
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by B^2 |grad f|^2",
            why=FACTOR_2 + "; Jensen's inequality bounds it for every unbiased plain mean.",
        ),
        "sharp": Reading(
            bound=gap_0 - rho_sharp * grad2_0,
            conditions=(Condition("positive decrease", rho_sharp > 0, "rho > 0", vacuity=True),),
            assumptions=(*ASSUMPTIONS, gradient_cohort_variance),
            replaces="2 B^2 |grad f|^2 as the bound of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=MORE_DEVICES + ", so that more devices help.",
        ),
    },
)
