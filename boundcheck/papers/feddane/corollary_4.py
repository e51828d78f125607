"""Corollary 4: the decrease of Theorem 3 with exact local solutions and mu = 5 L B^2."""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    **ONE_ITERATION,
    source=Source(PAPER, "Corollary 4", "Section IV-A"),
    title="Decrease of an iteration of FedDANE with exact local solutions and mu = 5 L B^2",
    choices={"mu": 5 * L * B2},
    conditions=(Condition("exact solutions", sp.Eq(gamma, 0), "gamma = 0"),),
    assumptions=(convex_clients, smooth_clients, dissimilarity_at_start, inexact_solves, unbiased_gradient_cohort),
    readings={
        "corrected": Reading(
            bound=gap_0 - (3 / (25 * L * B2) - 1 / (50 * L * B2**2)) * grad2_0,
            replaces="rho = 3/(25 L B^2) approximately by the exact value of Theorem 3's rho",
            why="At mu = 5 L B^2 Theorem 3 gives 3/(25 L B^2) - 1/(50 L B^4), a factor 1 - 1/(6 B^2) less: 1/(10 L), "
            "not 3/(25 L), at B = 1. The best choice is mu = L (4 B^2 + 1), 4 per cent better for large B.",
        ),
        "as_printed": Reading(
            bound=gap_0 - 3 / (25 * L * B2) * grad2_0,
            remark="Both 'approximately' read as 'equal', for every B. Theorem 3 does not give it (see the corrected "
            "reading), but without the factor 2 of (10) it is true, since the sharp rho is larger for every B >= 1.",
        ),
        "sharp": Reading(  # 1/mu - L (2 B^2 + 1)/(2 mu^2) at mu = 5 L B^2
            bound=gap_0 - (4 / (25 * L * B2) - 1 / (50 * L * B2**2)) * grad2_0,
            replaces="rho = 3/(25 L B^2) by 4/(25 L B^2) - 1/(50 L B^4)",
            why=FACTOR_2 + "; Jensen's inequality bounds it by B^2 |grad f|^2.",
        ),
    },
)
