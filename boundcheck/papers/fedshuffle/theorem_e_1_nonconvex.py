"""Theorem E.1, non-convex: FedShuffleGen at any fixed step size within the conditions.

The theorem is about the objective fhat that the method really minimises: G^2, B^2, D, F, L and mu are those of fhat and
its weights; P^2 and sigma^2 are those of Appendix E.
The letters et_gen, beta_gen and H_gen are et, beta and H of Appendix E. The printed beta has M2 besides.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1", "Appendix E, non-convex; constants from the end of the proof"),
    title="FedShuffleGen at a fixed step size, non-convex",
    symbols=NOTATION,
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.drawn(
        "grad2",
        GRADIENT2,
        index=R,
        expectation="cohorts and orders of the samples, and the round of the output",
        surrogate=True,
    ),
    assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, followed_objective),
    trivial=2 * L * F,
    readings={
        "corrected": Reading(
            bound=8 * F / (et_gen * R) + 8 * M1 * L * G2 * et_gen + 18 * L**2 * H_gen * et_gen**2 / (W * eta_g) ** 2,
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
            bound=4 * F / (et_gen * R) + 4 * M1 * L * G2 * et_gen + 6 * L**2 * H_gen * et_gen**2 / (W * eta_g) ** 2,
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
            bound=8 * F / (et_gen * R) + 8 * M1 * L * G2 * et_gen + 18 * L * H_gen * et_gen**2 / eta_g**2,
            conditions=(
                Condition("step size", eta_l * eta_g <= 1 / (4 * beta_gen_printed * L), "as printed, without W"),
                Condition("server step size", eta_g >= 1),
            ),
            belief=Belief.FALSE,
            remark="The middle term lacks L and W^2, and the step condition does not know W.",
            printed_rate=sp.sqrt(F * M1 * L * G2 / R)
            + sp.cbrt(F / R) ** 2 * sp.cbrt(L * H_gen / eta_g**2)
            + L * F * beta_gen_printed / R,
        ),
    },
)
