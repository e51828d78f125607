"""Theorem 7: the decrease of one iteration where every device has its own proximal weight, inexactness and smoothness.

The symbols are means over the devices of S'_t: L_gamma2_inv_mu2, for example, is that of L_k (1 + gamma_k)^2/mu_k^2.
"""

from boundcheck.papers.feddane.definitions import *
from boundcheck.theory.declare import *

OWN = tuple(
    at_least(
        name,
        f"mean over the devices of S'_t of {term}",
        dimension,
        latex=rf"\overline{{{latex}}}",
        key=f"subproblem/{name}",
    )
    for at_least, name, term, latex, dimension in (
        (positive, "inv_mu", "1/mu_k", r"1/\mu_k", STEP),
        (nonnegative, "gamma_inv_mu", "gamma_k/mu_k", r"\gamma_k/\mu_k", STEP),
        (nonnegative, "L_inv_mu2", "L_k/mu_k^2", r"L_k/\mu_k^2", STEP),
        (positive, "gamma2_inv_mu2", "(1 + gamma_k)^2/mu_k^2", r"(1+\gamma_k)^2/\mu_k^2", STEP * STEP),
        (nonnegative, "L_gamma2_inv_mu2", "L_k (1 + gamma_k)^2/mu_k^2", r"L_k(1+\gamma_k)^2/\mu_k^2", STEP),
    )
)
inv_mu, gamma_inv_mu, L_inv_mu2, gamma2_inv_mu2, L_gamma2_inv_mu2 = (symbol.expr for symbol in OWN)

ASSUMPTIONS = (
    convex_clients,
    client_smoothness,
    dissimilarity_at_start,
    inexact_solves,
    unbiased_gradient_cohort,
    independent_cohorts,
)

rho_printed = (
    inv_mu
    - 3 * gamma_inv_mu / 2
    - L_gamma2_inv_mu2
    - 3 * L_inv_mu2 / 2
    - (L * gamma2_inv_mu2 + L_inv_mu2 + gamma_inv_mu) * (B2 - 1)
)
rho_corrected = (
    inv_mu - gamma_inv_mu * (B2 + sp.Rational(1, 2)) - L_f * B2 * gamma2_inv_mu2 - L_inv_mu2 * (B2 + sp.Rational(1, 2))
)
rho_sharp = inv_mu - (L_inv_mu2 + gamma_inv_mu) * (2 + V) / 2 - L_f * gamma2_inv_mu2 * (1 + V) / 2

WRONG_SMOOTHNESS = (
    "The descent step (21) takes the Lipschitz constant L_k of grad F_k for that of grad f, which it is not: a flat "
    "device with a small mu_k then moves f upwards by an amount that its L_k does not see"
)

theorem = Theorem(
    source=Source(PAPER, "Theorem 7", "Section IV-C; proof in Appendix V-F"),
    title="Sufficient decrease of an iteration of FedDANE with constants of each device",
    symbols=(*NOTATION, *OWN),
    metric=Metric.last("gap", VALUE, rounds=1, expectation=COHORTS),
    algorithm=Algorithm("feddane", any_value=("mu", "K", "participation")),  # every device has a mu of its own
    trivial=gap_0,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=gap_0 - rho_corrected * grad2_0,
            conditions=(Condition("positive decrease", rho_corrected > 0, "rho > 0", vacuity=True),),
            assumptions=ASSUMPTIONS,
            replaces="L_k (1 + gamma_k)^2 and L (1 + gamma_k)^2 by L_f (1 + gamma_k)^2 with the smoothness L_f of f",
            why=WRONG_SMOOTHNESS + ".",
            remark="rho belongs to the S'_t that is drawn: it must not depend on S_t, since E g = grad f is used given "
            "S'_t. Here S'_t is fixed (full participation).",
        ),
        "as_printed": Reading(
            bound=gap_0 - rho_printed * grad2_0,
            conditions=(Condition("positive decrease", rho_printed > 0, "rho > 0", vacuity=True),),
            assumptions=(*ASSUMPTIONS, smooth_clients),
            belief=Belief.FALSE,
            remark=WRONG_SMOOTHNESS + ". L, which the theorem does not define, is read as the largest L_k; gamma "
            "without an index in (25) as gamma_k.",
        ),
        "sharp": Reading(
            bound=gap_0 - rho_sharp * grad2_0,
            conditions=(Condition("positive decrease", rho_sharp > 0, "rho > 0", vacuity=True),),
            assumptions=(*ASSUMPTIONS, gradient_cohort_variance),
            replaces="the corrected rho's bound 2 B^2 |grad f|^2 of E|g|^2 by (1 + (B^2 - 1)/K) |grad f|^2",
            why=MORE_DEVICES + ".",
        ),
    },
)
