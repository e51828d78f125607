"""Theorem 5.1, non-convex: FedShuffle at any fixed step size within the condition.

The theorem hides all constants in O(.); the printed reading has those of the end of Appendix C.
The letters et, beta and H are those of Section 5; beta_c and H_c have the P^2 and sigma^2 of Lemma C.2, a third of
Section 5's.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SERVER = Condition("server step size", eta_g >= 1)
STEP = Condition("step size", et <= 1 / (4 * beta * L), "on the effective step E*eta_g*eta_l of a round")
STEP_C = Condition("step size", et <= 1 / (4 * beta_c * L), "on the effective step E*eta_g*eta_l of a round")

theorem = Theorem(
    source=Source(PAPER, "Theorem 5.1", "Section 5, non-convex; constants from Appendix C"),
    title="FedShuffle at a fixed step size, non-convex",
    symbols=NOTATION,
    algorithm=Algorithm("fedshuffle", ("E", "eta_l", "eta_g"), any_value=("participation",)),
    metric=Metric.drawn(
        "grad2", GRADIENT2, index=R, expectation="cohorts and orders of the samples, and the round of the output"
    ),
    assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
    trivial=2 * L * F,
    readings={
        "corrected": Reading(
            bound=8 * F / (et * R) + 8 * M * L * G2 * et + 18 * L**2 * H * et**2 / (eta_g * E) ** 2,
            conditions=(STEP, SERVER, B_AT_LEAST_1),
            belief=Belief.TRUE,
            replaces="the middle term with L by one with L^2",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit. The coefficients 8, 8 and 18 of the printed proof are kept.",
            remark="Here et is the effective step E*eta_g*eta_l of a round.",
        ),
        "sharp": Reading(
            bound=4 * F / (et * R) + 4 * M * L * G2 * et + 6 * L**2 * H_c * et**2 / (eta_g * E) ** 2,
            conditions=(STEP_C, SERVER, B_AT_LEAST_1),
            belief=Belief.TRUE,
            replaces="the coefficients 8, 8 and 18 of the paper's recursion by 4, 4 and 6",
            why="Both lemmas share one step condition, and (1 + M B^2)/beta and (1 + P) B/beta sum to 1: with them the "
            "gradient keeps the coefficient et/4 instead of et/8. P^2 and sigma^2 are those of Lemma C.2, a third of "
            "those of Section 5.",
            remark="Here et is the effective step E*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M B^2.",
        ),
        "as_printed": Reading(
            bound=8 * F / (et * R) + 8 * M * L * G2 * et + 18 * L * H * et**2 / (eta_g * E) ** 2,
            conditions=(STEP, SERVER),
            belief=Belief.FALSE,
            remark="The middle term has not the unit of the left side, so that scaling f breaks the bound.",
            printed_rate=sp.sqrt(F * M * L * G2 / R)
            + sp.cbrt(F / R) ** 2 * sp.cbrt(L * H / (eta_g * E) ** 2)
            + L * F * beta / R,
        ),
    },
)
