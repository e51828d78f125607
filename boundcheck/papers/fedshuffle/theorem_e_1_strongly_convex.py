"""Theorem E.1, strongly convex: FedShuffleGen at any fixed step size within the conditions.

The theorem is about the objective fhat that the method really minimises: G^2, B^2, D, F, L and mu are those of fhat and
its weights; P^2 and sigma^2 are those of Appendix E.
The letters et_gen, beta_gen and H_gen are et, beta and H of Appendix E. The printed beta has M2 besides.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

left = (1 - mu * et_gen / 2) ** R  # what R contractions leave of the start; the sum of the weights is exact

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1", "Appendix E, strongly convex; constants from the end of the proof"),
    title="FedShuffleGen at a fixed step size, strongly convex",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.drawn(
        "gap",
        VALUE,
        index=R,
        expectation="cohorts and orders of the samples, and the round of the output",
        weights=(1 - mu * et_gen / 2) ** (-ROUND),
        surrogate=True,
    ),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    trivial=F,
    readings={
        "corrected": Reading(
            bound=5 * mu * D * left / (1 - left)
            + 20 * M1 * G2 * et_gen
            + 90 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
            conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
            belief=Belief.TRUE,
            replaces="the middle term without L and W^2, the condition on eta_l*eta_g alone, and M2 in beta",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit. The local step is et/(W eta_g), not et/eta_g, so that W^2 divides the "
            "middle term; for W > 1 the printed condition does not bound the effective step W*eta_g*eta_l, and for "
            "W < 1 the printed exponential rate needs a larger step than it allows, so that both steps carry a "
            "condition of their own. By Jensen M2 can be 1, which beta's first 1 covers. Assumption 3.3 is needed for "
            "fhat and its weights.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "sharp": Reading(
            bound=mu / 2 * D * left / (1 - left) + 2 * M1 * G2 * et_gen + 5 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
            conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
            belief=Belief.TRUE,
            replaces="the coefficients of the paper's recursion by those without slack, besides all that 'corrected' "
            "does",
            why="As for Theorem 5.1, whose two lemmas share one step condition. The local step is et/(W eta_g), not "
            "et/eta_g, so that W^2 divides the middle term; for W > 1 the printed condition does not bound the "
            "effective step W*eta_g*eta_l, and for W < 1 the printed exponential rate needs a larger step than it "
            "allows, so that both steps carry a condition of their own. By Jensen M2 can be 1, which beta's first 1 "
            "covers. Assumption 3.3 is needed for fhat and its weights.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "as_printed": Reading(
            bound=10 * mu * D * sp.exp(-et_gen * mu * R / 2) + 4 * M1 * G2 * et_gen + 18 * H_gen * et_gen**2 / eta_g**2,
            conditions=(
                Condition("step size", eta_l * eta_g <= 1 / (4 * beta_gen_printed * L), "as printed, without W"),
                Condition("server step size", eta_g >= 1),
                Condition("rounds", sp.Ge(R, 4 * beta_gen_printed * L / mu)),
                Condition("step size from below", et_gen >= 1 / (mu * R), "the end of the proof, before the tuning"),
            ),
            assumptions=(
                strongly_convex_samples,
                smooth_samples,
                gradient_dissimilarity,
                local_variance,
                followed_objective,
            ),
            belief=Belief.FALSE,
            remark="The middle term lacks L and W^2, and the step condition does not know W.",
            printed_rate=M1 * G2 / (mu * R)
            + H_gen / (mu * R * eta_g) ** 2
            + mu * D**2 * sp.exp(-mu * R / (8 * beta_gen_printed * L)),
        ),
    },
)
