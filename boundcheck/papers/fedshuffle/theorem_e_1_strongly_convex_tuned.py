"""Theorem E.1, strongly convex: FedShuffleGen at the step size that the number of rounds prescribes.

The step size is that of Lemma B.2, repaired for two error terms: et = min(largest step, 2 ell/(mu R)). The largest
effective step is min(1, W eta_g)/(4 beta L): W eta_g eta_l and eta_l are both at most 1/(4 beta L). Corrected: the
start counts 10 D, the errors are c1 = 20 M1 G^2 and c2 = 90 L H/(W eta_g)^2.
The theorem is about the objective fhat that the method really minimises, as `theorem_e_1_strongly_convex` is.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SERVER = Condition("server step size", eta_g >= 1)
START = Condition("start", D > 0, "the start is no minimiser")
INVERSE = 4 * beta_gen * L * sp.Max(1, 1 / (W * eta_g))  # one over the largest effective step
ROUNDS = Condition("rounds", sp.Ge(R, INVERSE / mu), "so that a step of 1/(mu R) is allowed")
ROUNDS_PRINTED = Condition("rounds", sp.Ge(R, 4 * beta_gen_printed * L / mu))

# exp(ell) is start/noise, as in `theorem_5_1_strongly_convex_tuned`
start = sp.Rational(5, 2) * mu**2 * R * D
noise = sp.Max(20 * M1 * G2, 180 * L * H_gen / (mu * R * (W * eta_g) ** 2), start * sp.exp(-mu * R / (2 * INVERSE)))
ell = sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, start / noise)))

start_sharp = mu**2 * R * D / 4
noise_sharp = sp.Max(
    2 * M1 * G2, 10 * L * H_gen / (mu * R * (W * eta_g) ** 2), start_sharp * sp.exp(-mu * R / (2 * INVERSE))
)
ell_sharp = sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, start_sharp / noise_sharp)))

# as printed: eta_g*eta_l is log(max(1, mu^2 R d/c1))/(mu R), at most 1/(4 beta L), with the d and c1 of Appendix E
start_printed = 10 * mu**2 * R * D
noise_printed = sp.Max(4 * M1 * G2, start_printed * sp.exp(-mu * R / (4 * beta_gen_printed * L)))
STEP_PRINTED = sp.log(sp.Max(1, start_printed / noise_printed)) / (mu * R)

RATE = M1 * G2 / (mu * R) + H_gen / (mu * R * eta_g) ** 2 + mu * D**2 * sp.exp(-mu * R / (8 * beta_gen_printed * L))

theorem = Theorem(
    source=Source(PAPER, "Theorem E.1", "Appendix E, strongly convex; constants from the end of the proof"),
    title="FedShuffleGen at the tuned step size, strongly convex",
    symbols=(*NOTATION, HORIZON),
    algorithm=Algorithm(
        "fedshuffle_gen", ("eta_l", "eta_g"), any_value=("E", "c", "weights", "normaliser", "participation")
    ),
    metric=Metric.drawn(
        "gap",
        VALUE,
        rounds=R,
        expectation="cohorts and orders of the samples, and the round of the output",
        weights=(1 - mu * et_gen / 2) ** (-ROUND),
        surrogate=True,
    ),
    domain=(MU_AT_MOST_L,),
    assumptions=(strongly_convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    trivial=F,
    readings={
        "corrected": Reading(
            choices=(("eta_l", sp.Min(1 / INVERSE, 2 * ell / (mu * R)) / (W * eta_g)),),
            bound=15 * mu * D * sp.exp(-mu * R / (2 * INVERSE))
            + 40 * M1 * G2 / (mu * R) * (3 + ell)
            + 360 * L * H_gen / (mu * R * W * eta_g) ** 2 * (3 + ell**2),
            conditions=(ROUNDS, B_AT_LEAST_1, START),
            belief=Belief.TRUE,
            replaces="the middle term without L and W^2, the step eta_l*eta_g by W*eta_g*eta_l, M2 in beta, and the "
            "coefficients 4, 18 and 10 after the division by et/10",
            why="Lemma E.4 drops an L and takes et/eta_g for the local step, which is et/(W eta_g); a small W eta_g "
            "limits the effective step, and with it the exponent. By Jensen M2 can be 1, which beta's first 1 covers. "
            "The step is 2*ell/(mu R), where ell is at least 1/2, at most mu R/2 times the largest step, and has both "
            "error terms in its logarithm: the printed log(.)/(mu R) leaves exp(-et mu R/2) of the order 1/sqrt(R), "
            "looks at c1 alone, and may be 0.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "sharp": Reading(
            choices=(("eta_l", sp.Min(1 / INVERSE, 2 * ell_sharp / (mu * R)) / (W * eta_g)),),
            bound=sp.Rational(3, 2) * mu * D * sp.exp(-mu * R / (2 * INVERSE))
            + 4 * M1 * G2 / (mu * R) * (3 + ell_sharp)
            + 20 * L * H_gen / (mu * R * W * eta_g) ** 2 * (3 + ell_sharp**2),
            conditions=(ROUNDS, B_AT_LEAST_1, START),
            belief=Belief.TRUE,
            replaces="the coefficients of the paper's recursion by those without slack, besides all that 'corrected' "
            "does",
            why="As for Theorem 5.1, whose two lemmas share one step condition.",
            remark="Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2.",
        ),
        "as_printed": Reading(
            choices=(("eta_l", STEP_PRINTED / eta_g),),
            bound=RATE,
            conditions=(ROUNDS_PRINTED, SERVER, START),
            assumptions=(
                strongly_convex_samples,
                smooth_samples,
                gradient_dissimilarity,
                local_variance,
                followed_objective,
            ),
            belief=Belief.FALSE,
            remark="The middle term lacks L and W^2, the last term has D^2 for D, and the step condition does not know "
            "W. The printed order with the constant 1, at the printed step.",
            printed_rate=RATE,
        ),
    },
)
