"""Lemma E.3: one round of FedShuffleGen, with the drift of that round.

It is about the objective fhat that the method really minimises, and its weights.


Lemma E.4: the drift of a round of FedShuffleGen, about the objective fhat that the method really minimises.

Lemma E.5: the variance of a normalised sum over a random cohort.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SQUARES = nonnegative("weighted_squares", "sum over the clients of h_i s_i |w_i z_i/q_i|^2", GRADIENT2,
                      r"(\sum_i \frac{s_i w_i^2}{p_i}\|z_i\|^2)")  # fmt: skip

theorems = {
    "lemma_e_3": Theorem(
        source=Source(PAPER, "Lemma E.3", "Appendix E.3, one round progress"),
        title="One round of FedShuffleGen",
        symbols=(*NOTATION, CONVEXITY),
        algorithm=FEDSHUFFLE_GEN,
        metric=Metric.last("dist2", LENGTH2, rounds=1, expectation=COHORTS, surrogate=True),
        bound=(1 - mu * et_gen / 2) * D - et_gen * F + 3 * L * et_gen * drift_0 + 2 * et_gen**2 * M1 * G2,
        domain=(MU_AT_MOST_L,),
        assumptions=(*STRONGLY_CONVEX, followed_objective),
        trivial=D,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                conditions=(
                    Condition("step size", et_gen <= 1 / (4 * (1 + M1 * B2) * L), "on W*eta_g*eta_l"),
                    B_AT_LEAST_1,
                ),
                replaces="the condition on eta_l*eta_g by one on W*eta_g*eta_l, and M2 by 1",
                why="For W > 1 the printed condition does not bound the effective step, and the contraction fails "
                "(FedAvg with a large server weight diverges); the second square is at most a mean of squares by "
                "Jensen, without M2.",
            ),
            "raw": Reading(
                title="One round of FedShuffleGen, before the step condition is put in",
                bound=(1 - mu * et_gen / 2) * D
                - 2 * et_gen * F
                + 2 * L * et_gen * drift_0
                + 2 * et_gen**2 * ((1 + M1) * L**2 * drift_0 + M1 * G2 + 2 * L * (1 + M1 * B2) * F),
                replaces="the use of the step condition",
                why="It is the display of the proof from which the lemma follows, valid for every step size; the sharp "
                "recursion of Theorem E.1 needs it.",
            ),
            "as_printed": Reading(
                conditions=(
                    Condition("step size", eta_l * eta_g <= 1 / (4 * (1 + M2 + M1 * B2) * L), "as printed, without W"),
                    SERVER_STEP,
                ),
                belief=Belief.FALSE,
                remark="The display is cut off in the text and completed from its proof. False where W > 1; true for W "
                "= 1.",
            ),
        },
    ),
    "lemma_e_4": Theorem(
        source=Source(PAPER, "Lemma E.4", "Appendix E.3, bounded drift"),
        title="The drift of a round of FedShuffleGen",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE_GEN,
        metric=Metric.last("drift", LENGTH2, scale=3 * L * et_gen, expectation=COHORTS, surrogate=True),
        assumptions=(convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=sp.Rational(9, 10) * et_gen * F + 9 * L * et_gen * eta_l**2 * H_gen,
                conditions=(LOCAL_STEP,),
                replaces="the last term without L and with eta_l = et/eta_g, and the condition with M2 and eta_g",
                why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and "
                "everything built on it, has the wrong unit. As et = W*eta_g*eta_l, eta_l^2 is et^2/(W eta_g)^2. The "
                "proof bounds the drift at any server step.",
            ),
            "sharp": Reading(
                bound=sp.Rational(6, 7) * et_gen * F + sp.Rational(48, 7) * L * et_gen * eta_l**2 * H_gen,
                conditions=(LOCAL_STEP,),
                replaces="the coefficients 9/10 and 9 by 6/7 and 48/7, besides all that 'corrected' does",
                why="These are the numbers of the proof before they are rounded up.",
            ),
            "as_printed": Reading(
                bound=sp.Rational(9, 10) * et_gen * F + 9 * et_gen**3 / eta_g**2 * H_gen,
                conditions=(
                    Condition("step size", eta_l * eta_g <= 1 / (4 * beta_gen_printed * L), "as printed, without W"),
                    SERVER_STEP,
                ),
                belief=Belief.FALSE,
                remark="The last term lacks L and W^2, and has the unit of x^2/L.",
            ),
        },
    ),
    "lemma_e_5": Theorem(
        source=Source(PAPER, "Lemma E.5", "Appendix E"),
        title="Variance of the sum of w_i z_i/q_i^S over a cohort",
        symbols=(SQUARES,),
        metric=Metric.last("participation_variance", GRADIENT2, expectation="cohort"),
        bound=SQUARES.expr,
        assumptions=(
            Assumption(
                "cohort_normaliser_variance",
                "1/q_i is the expectation of 1/q_i^S over the cohorts S with i, and H - e e^T is at most diag(h_i "
                "s_i), h the diagonal of H, H_ij the expectation of q_i q_j/(q_i^S q_j^S) over the cohorts with i and "
                "j.",
            ),
        ),
        readings={
            "corrected": Reading(
                belief=Belief.TRUE,
                replaces="h_1 s_2 by h_1 s_1 in (33), g_i^S by q_i^S in (34)",
                why="The proof uses these. That the weights sum to 1 is not needed.",
            )
        },
    ),
}
