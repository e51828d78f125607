"""Lemma 3 (model discrepancy, non-IID): the distance of the models from their average by gradients at the average."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

MEASURED = nonnegative("mean_grad2", "mean over iterations of E|grad F(u_k)|^2, as measured", GRADIENT2,
                       r"\overline{\mathbb{E}\|\nabla F(u_k)\|^2}")  # fmt: skip
mean_grad2 = MEASURED.expr
A = 2 * eta**2 * tau * (tau - 1) * Lmax**2
BELOW_1 = Condition("A below 1", A < 1, "A = 2 eta^2 tau (tau - 1) L^2; the proof divides by 1 - A")

# the corrected Theorem 2
bound_mean_grad2 = start_term + 2 * eta * sum_p2 * Lmax * sigma2 + distance_terms_one_constant

SUMMED = (
    "(74) is about one block; this is its sum over the blocks, with the largest L_j for each, which is no stronger "
    "than the printed inequalities together"
)
WHOLE_GRADIENT = (
    "Step (111) bounds block j of a gradient's difference by block j of the points' difference, which needs a "
    "separable objective; with one constant for all blocks the step is made for the whole gradient"
)

theorem = Theorem(
    source=Source(PAPER, "Lemma 3", "Appendix C, (74), the model discrepancy"),
    title="The mean squared distance of the models from their average, non-IID",
    symbols=(*NOTATION, MEASURED),
    metric=Metric.mean("discrepancy", LENGTH2, index=K, expectation="the samples of all steps"),
    algorithm=BLOCK_AVERAGING,
    bound=(eta**2 * (tau - 1) * sigma2 + 2 * eta**2 * tau * (tau - 1) * (beta2 * mean_grad2 + kappa2)) / (1 - A),
    conditions=(BELOW_1,),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            symbols=GLOBAL,
            assumptions=ONE_CONSTANT,
            replaces="one inequality a block by their sum, with one constant L, and 1/m by the weights p_i",
            why=f"{WHOLE_GRADIENT}.",
            remark="The gradients at u on the right are measured.",
        ),
        "without_gradients": Reading(
            symbols=GLOBAL,
            bound=(eta**2 * (tau - 1) * sigma2 + 2 * eta**2 * tau * (tau - 1) * (beta2 * bound_mean_grad2 + kappa2))
            / (1 - A),
            conditions=(BELOW_1, Condition("step size", eta * Lmax <= 1), INTERVAL),
            assumptions=ONE_CONSTANT,
            replaces="the measured gradients by their bound in Theorem 2",
            why=f"{WHOLE_GRADIENT}. With the corrected Theorem 2 the right side needs no measurement.",
        ),
        "as_printed_separable": Reading(
            symbols=SEPARABLE,
            assumptions=(*PRINTED_SEPARABLE, plain_mean),
            remark=f"{SUMMED}. Assumption 1 read as step (111) uses it; p_i = 1/m, as throughout Appendix C.",
        ),
        "as_printed": Reading(
            assumptions=(*PRINTED, plain_mean),
            belief=Belief.FALSE,
            remark=f"{SUMMED}. Assumption 1 read block by block. {WHOLE_GRADIENT}.",
        ),
    },
)
