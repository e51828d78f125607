"""Theorem E.1, general convex: FedShuffleGen at the step size that the number of rounds prescribes.

Where the bound at a fixed step is d0/(et R) + c1 et + c2 et^2, Lemma B.3 takes et = min(largest step, sqrt(d0/(c1 R)),
(d0/(c2 R))^(1/3)) and gives d0/(largest step * R) + 2 sqrt(c1 d0/R) + 2 c2^(1/3) (d0/R)^(2/3). The largest effective
step is min(1, W eta_g)/(4 beta L): W eta_g eta_l and eta_l are both at most 1/(4 beta L). The step is one over a
maximum, which covers c1 = 0 and c2 = 0. Corrected: d0 = 10 D, c1 = 20 M1 G^2, c2 = 90 L H/(W eta_g)^2.
The theorem is about the objective fhat that the method really minimises, as `theorem_e_1_convex` is.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SERVER = Condition("server step size", eta_g >= 1)
START = Condition("start", D > 0, "the start is no minimiser")
RATE = sp.sqrt(D * M1 * G2 / R) + sp.cbrt(D / R) ** 2 * sp.cbrt(H_gen / eta_g**2) + L * D * beta_gen_printed / R
INVERSE = 4 * beta_gen * L * sp.Max(1, 1 / (W * eta_g))  # one over the largest effective step

# the effective steps of the corrected and the sharp reading; as printed, eta_g*eta_l
STEP = 1 / sp.Max(
    INVERSE, sp.sqrt(20 * M1 * G2 * R / (10 * D)), sp.cbrt(90 * L * H_gen * R / (10 * D * (W * eta_g) ** 2))
)
STEP_SHARP = 1 / sp.Max(INVERSE, sp.sqrt(2 * M1 * G2 * R / (D)), sp.cbrt(5 * L * H_gen * R / (D * (W * eta_g) ** 2)))
STEP_PRINTED = 1 / sp.Max(
    4 * beta_gen_printed * L, sp.sqrt(20 * M1 * G2 * R / (10 * D)), sp.cbrt(90 * H_gen * R / (10 * D * eta_g**2))
)

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1", "Appendix E, general convex; constants from the end of the proof"),
    title="FedShuffleGen at the tuned step size, general convex",
    symbols=(*NOTATION, HORIZON),
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.drawn(
        "gap",
        VALUE,
        rounds=R,
        expectation="cohorts and orders of the samples, and the round of the output",
        surrogate=True,
    ),
    assumptions=(convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    trivial=F,
    readings={
        "corrected": Reading(
            choices=(("eta_l", STEP / (W * eta_g)),),
            bound=INVERSE * 10 * D / R
            + 2 * sp.sqrt(20 * M1 * G2 * 10 * D / R)
            + 2 * sp.cbrt(90 * L * H_gen / (W * eta_g) ** 2) * sp.cbrt(10 * D / R) ** 2,
            conditions=(B_AT_LEAST_1, START),
            belief=Belief.TRUE,
            replaces="the middle term without L and W^2, the step eta_l*eta_g by W*eta_g*eta_l, and M2 in beta",
            why="Lemma E.4 drops an L and takes et/eta_g for the local step, which is et/(W eta_g); a small W eta_g "
            "limits the effective step, which costs its inverse in the last term. By Jensen M2 can be 1, which beta's "
            "first 1 covers. The coefficients of the printed proof are kept; it divides by et/10 wrongly.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "sharp": Reading(
            choices=(("eta_l", STEP_SHARP / (W * eta_g)),),
            bound=INVERSE * D / R
            + 2 * sp.sqrt(2 * M1 * G2 * D / R)
            + 2 * sp.cbrt(5 * L * H_gen / (W * eta_g) ** 2) * sp.cbrt(D / R) ** 2,
            conditions=(B_AT_LEAST_1, START),
            belief=Belief.TRUE,
            replaces="the coefficients of the paper's recursion by those without slack, besides all that 'corrected' "
            "does",
            why="As for Theorem 5.1, whose two lemmas share one step condition.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "as_printed": Reading(
            choices=(("eta_l", STEP_PRINTED / eta_g),),
            bound=RATE,
            conditions=(SERVER, START),
            assumptions=(convex_samples, smooth_samples, gradient_dissimilarity, local_variance, followed_objective),
            belief=Belief.FALSE,
            remark="The middle term lacks L and W^2, and the step condition does not know W. The printed order with "
            "the constant 1, at Lemma B.3's step.",
            printed_rate=RATE,
        ),
    },
)
