"""Theorem E.1: FedShuffleGen where the losses are convex, not convex, and strongly convex.

It is about the objective fhat that the method really minimises: G^2, B^2, D, F, L and mu are those of fhat and its
weights; P^2 and sigma^2 are those of Appendix E. Each case stands at any fixed step size and at the one that the number
of rounds prescribes ("tuned"), as in `theorem_5_1`.

General convex, non-convex: where the bound at a fixed step is d0/(et R) + c1 et + c2 et^2, Lemma B.3 takes et =
min(largest step, sqrt(d0/(c1 R)), (d0/(c2 R))^(1/3)) and gives d0/(largest step * R) + 2 sqrt(c1 d0/R) + 2 c2^(1/3)
(d0/R)^(2/3). Corrected d0, c1 and c2 are 10 D, 20 M1 G^2 and 90 L H/(W eta_g)^2 in the convex case, 8 F, 8 M1 L G^2 and
18 L^2 H/(W eta_g)^2 in the other. Strongly convex: the step is that of Lemma B.2, repaired for two error terms: et =
min(largest step, 2 ell/(mu R)). The largest effective step is min(1, W eta_g)/(4 beta L), since W eta_g eta_l and eta_l
are both at most 1/(4 beta L).

The letters et_gen, beta_gen and H_gen are et, beta and H of Appendix E. The printed beta has M2 besides.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

INVERSE = 4 * beta_gen * L * sp.Max(1, 1 / (W * eta_g))  # one over the largest effective step
INVERSE_PRINTED = 4 * beta_gen_printed * L  # as printed, of eta_g*eta_l

STEP_PRINTED = Condition("step size", eta_l * eta_g <= 1 / INVERSE_PRINTED, "as printed, without W")
ROUNDS = Condition("rounds", sp.Ge(R, INVERSE / mu), "so that a step of 1/(mu R) is allowed")
ROUNDS_PRINTED = Condition("rounds", sp.Ge(R, INVERSE_PRINTED / mu))
NO_MINIMISER = Condition("start", D > 0, "the start is no minimiser")
NO_MINIMUM = Condition("start", F > 0, "the start is no minimum")


def step(d0: Any, c1: Any, c2: Any, inverse: Any) -> Any:
    """The step of Lemma B.3, one over a maximum, which covers c1 = 0 and c2 = 0; at most 1/inverse."""
    return 1 / sp.Max(inverse, sp.sqrt(c1 * R / d0), sp.cbrt(c2 * R / d0))


# exp(ell) is start/noise, as in `theorem_5_1`
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
noise_printed = sp.Max(4 * M1 * G2, start_printed * sp.exp(-mu * R / INVERSE_PRINTED))
step_printed = sp.log(sp.Max(1, start_printed / noise_printed)) / (mu * R)

left = (1 - mu * et_gen / 2) ** R  # what R contractions leave of the start; the sum of the weights is exact

# the three orders that are printed
rate_convex = sp.sqrt(D * M1 * G2 / R) + sp.cbrt(D / R) ** 2 * sp.cbrt(H_gen / eta_g**2) + L * D * beta_gen_printed / R
rate_nonconvex = (
    sp.sqrt(F * M1 * L * G2 / R) + sp.cbrt(F / R) ** 2 * sp.cbrt(L * H_gen / eta_g**2) + L * F * beta_gen_printed / R
)
rate_strongly_convex = (
    M1 * G2 / (mu * R) + H_gen / (mu * R * eta_g) ** 2 + mu * D**2 * sp.exp(-mu * R / (8 * beta_gen_printed * L))
)

TWO_STEPS = (
    "The local step is et/(W eta_g), not et/eta_g, so that W^2 divides the middle term; for W > 1 the printed "
    "condition does not bound the effective step W*eta_g*eta_l, and for W < 1 the printed exponential rate needs a "
    "larger step than it allows, so that both steps carry a condition of their own. By Jensen M2 can be 1, which "
    "beta's first 1 covers. Assumption 3.3 is needed for fhat and its weights."
)
JENSEN = "By Jensen M2 can be 1, which beta's first 1 covers."
LOCAL = "Lemma E.4 drops an L and takes et/eta_g for the local step, which is et/(W eta_g); a small W eta_g limits the"
AS_5_1 = "As for Theorem 5.1, whose two lemmas share one step condition."
ET = "Here et is the effective step W*eta_g*eta_l of a round, and beta is 1 + (1 + P) B + M1 B^2."
CORRECTED: dict[str, Any] = {
    "conditions": (EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
    "replaces": "the middle term without L and W^2, the condition on eta_l*eta_g alone, and M2 in beta",
    "why": f"{LOST_L} {TWO_STEPS}",
    "remark": ET,
}
SHARP: dict[str, Any] = {
    "replaces": "the coefficients of the paper's recursion by those without slack, besides all that 'corrected' does",
    "remark": ET,
}
LACKS = "The middle term lacks L and W^2, and the step condition does not know W."
AT_LEMMA_B_3 = f"{LACKS} The printed order with the constant 1, at Lemma B.3's step."

CONVEX: dict[str, Any] = {
    "source": Source(PAPER, "Theorem E.1", "Appendix E, general convex; constants from the end of the proof"),
    "algorithm": FEDSHUFFLE_GEN,
    "assumptions": (convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, followed_objective),
    "trivial": F,
    "belief": Belief.TRUE,
}
PRINTED_CONVEX = (convex_samples, smooth_samples, gradient_dissimilarity, local_variance, followed_objective)
NONCONVEX: dict[str, Any] = {
    "source": Source(PAPER, "Theorem E.1", "Appendix E, non-convex; constants from the end of the proof"),
    "algorithm": FEDSHUFFLE_GEN,
    "assumptions": (smooth_samples, gradient_dissimilarity, local_variance, bounded_below, followed_objective),
    "trivial": 2 * L * F,
    "belief": Belief.TRUE,
}
CASE_STRONGLY_CONVEX: dict[str, Any] = {
    "source": Source(PAPER, "Theorem E.1", "Appendix E, strongly convex; constants from the end of the proof"),
    "algorithm": FEDSHUFFLE_GEN,
    "domain": (MU_AT_MOST_L,),
    "assumptions": (*STRONGLY_CONVEX, followed_objective),
    "trivial": F,
    "belief": Belief.TRUE,
}
WEIGHTED: dict[str, Any] = {"weights": (1 - mu * et_gen / 2) ** -ROUND, "expectation": OUTPUT, "surrogate": True}

theorems = {
    "theorem_e_1_convex": Theorem(
        **CONVEX,
        title="FedShuffleGen at a fixed step size, general convex",
        symbols=NOTATION,
        metric=Metric.drawn("gap", VALUE, index=R, expectation=OUTPUT, surrogate=True),
        readings={
            "corrected": Reading(
                bound=10 * D / (et_gen * R) + 20 * M1 * G2 * et_gen + 90 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
                **CORRECTED,
            ),
            "sharp": Reading(
                bound=D / (et_gen * R) + 2 * M1 * G2 * et_gen + 5 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
                conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
                why=f"{AS_5_1} {TWO_STEPS}",
                **SHARP,
            ),
            "as_printed": Reading(
                bound=10 * D / (et_gen * R) + 20 * M1 * G2 * et_gen + 90 * H_gen * et_gen**2 / eta_g**2,
                conditions=(STEP_PRINTED, SERVER_STEP),
                assumptions=PRINTED_CONVEX,
                belief=Belief.FALSE,
                remark=LACKS,
                printed_rate=rate_convex,
            ),
        },
    ),
    "theorem_e_1_convex_tuned": Theorem(
        **CONVEX,
        title="FedShuffleGen at the tuned step size, general convex",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.drawn("gap", VALUE, rounds=R, expectation=OUTPUT, surrogate=True),
        readings={
            "corrected": Reading(
                bound=INVERSE * 10 * D / R
                + 2 * sp.sqrt(20 * M1 * G2 * 10 * D / R)
                + 2 * sp.cbrt(90 * L * H_gen / (W * eta_g) ** 2) * sp.cbrt(10 * D / R) ** 2,
                choices={"eta_l": step(10 * D, 20 * M1 * G2, 90 * L * H_gen / (W * eta_g) ** 2, INVERSE) / (W * eta_g)},
                conditions=(B_AT_LEAST_1, NO_MINIMISER),
                replaces="the middle term without L and W^2, the step eta_l*eta_g by W*eta_g*eta_l, and M2 in beta",
                why=f"{LOCAL} effective step, which costs its inverse in the last term. {JENSEN} The coefficients of "
                "the printed proof are kept; it divides by et/10 wrongly.",
                remark=ET,
            ),
            "sharp": Reading(
                bound=INVERSE * D / R
                + 2 * sp.sqrt(2 * M1 * G2 * D / R)
                + 2 * sp.cbrt(5 * L * H_gen / (W * eta_g) ** 2) * sp.cbrt(D / R) ** 2,
                choices={"eta_l": step(D, 2 * M1 * G2, 5 * L * H_gen / (W * eta_g) ** 2, INVERSE) / (W * eta_g)},
                conditions=(B_AT_LEAST_1, NO_MINIMISER),
                why=AS_5_1,
                **SHARP,
            ),
            "as_printed": Reading(
                bound=rate_convex,
                choices={"eta_l": step(10 * D, 20 * M1 * G2, 90 * H_gen / eta_g**2, INVERSE_PRINTED) / eta_g},
                conditions=(SERVER_STEP, NO_MINIMISER),
                assumptions=PRINTED_CONVEX,
                belief=Belief.FALSE,
                remark=AT_LEMMA_B_3,
                printed_rate=rate_convex,
            ),
        },
    ),
    "theorem_e_1_nonconvex": Theorem(
        **NONCONVEX,
        title="FedShuffleGen at a fixed step size, non-convex",
        symbols=NOTATION,
        metric=Metric.drawn("grad2", GRADIENT2, index=R, expectation=OUTPUT, surrogate=True),
        readings={
            "corrected": Reading(
                bound=8 * F / (et_gen * R)
                + 8 * M1 * L * G2 * et_gen
                + 18 * L**2 * H_gen * et_gen**2 / (W * eta_g) ** 2,
                **CORRECTED,
            ),
            "sharp": Reading(
                bound=4 * F / (et_gen * R) + 4 * M1 * L * G2 * et_gen + 6 * L**2 * H_gen * et_gen**2 / (W * eta_g) ** 2,
                conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
                why=f"{AS_5_1} {TWO_STEPS}",
                **SHARP,
            ),
            "as_printed": Reading(
                bound=8 * F / (et_gen * R) + 8 * M1 * L * G2 * et_gen + 18 * L * H_gen * et_gen**2 / eta_g**2,
                conditions=(STEP_PRINTED, SERVER_STEP),
                belief=Belief.FALSE,
                remark=LACKS,
                printed_rate=rate_nonconvex,
            ),
        },
    ),
    "theorem_e_1_nonconvex_tuned": Theorem(
        **NONCONVEX,
        title="FedShuffleGen at the tuned step size, non-convex",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.drawn("grad2", GRADIENT2, rounds=R, expectation=OUTPUT, surrogate=True),
        readings={
            "corrected": Reading(
                bound=INVERSE * 8 * F / R
                + 2 * sp.sqrt(8 * M1 * L * G2 * 8 * F / R)
                + 2 * sp.cbrt(18 * L**2 * H_gen / (W * eta_g) ** 2) * sp.cbrt(8 * F / R) ** 2,
                choices={
                    "eta_l": step(8 * F, 8 * M1 * L * G2, 18 * L**2 * H_gen / (W * eta_g) ** 2, INVERSE) / (W * eta_g)
                },
                conditions=(B_AT_LEAST_1, NO_MINIMUM),
                replaces="the middle term without L and W^2, the step eta_l*eta_g by W*eta_g*eta_l, and M2 in beta",
                why=f"{LOCAL} effective step, which costs its inverse in the last term. {JENSEN} The coefficients of "
                "the printed proof are kept.",
                remark=ET,
            ),
            "sharp": Reading(
                bound=INVERSE * 4 * F / R
                + 2 * sp.sqrt(4 * M1 * L * G2 * 4 * F / R)
                + 2 * sp.cbrt(6 * L**2 * H_gen / (W * eta_g) ** 2) * sp.cbrt(4 * F / R) ** 2,
                choices={
                    "eta_l": step(4 * F, 4 * M1 * L * G2, 6 * L**2 * H_gen / (W * eta_g) ** 2, INVERSE) / (W * eta_g)
                },
                conditions=(B_AT_LEAST_1, NO_MINIMUM),
                why=AS_5_1,
                **SHARP,
            ),
            "as_printed": Reading(
                bound=rate_nonconvex,
                choices={"eta_l": step(8 * F, 8 * M1 * L * G2, 18 * L * H_gen / eta_g**2, INVERSE_PRINTED) / eta_g},
                conditions=(SERVER_STEP, NO_MINIMUM),
                belief=Belief.FALSE,
                remark=AT_LEMMA_B_3,
                printed_rate=rate_nonconvex,
            ),
        },
    ),
    "theorem_e_1_strongly_convex": Theorem(
        **CASE_STRONGLY_CONVEX,
        title="FedShuffleGen at a fixed step size, strongly convex",
        symbols=NOTATION,
        metric=Metric.drawn("gap", VALUE, index=R, **WEIGHTED),
        readings={
            "corrected": Reading(
                bound=5 * mu * D * left / (1 - left)
                + 20 * M1 * G2 * et_gen
                + 90 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
                **CORRECTED,
            ),
            "sharp": Reading(
                bound=mu / 2 * D * left / (1 - left)
                + 2 * M1 * G2 * et_gen
                + 5 * L * H_gen * et_gen**2 / (W * eta_g) ** 2,
                conditions=(EFFECTIVE_STEP, LOCAL_STEP, B_AT_LEAST_1),
                why=f"{AS_5_1} {TWO_STEPS}",
                **SHARP,
            ),
            "as_printed": Reading(
                bound=10 * mu * D * sp.exp(-et_gen * mu * R / 2)
                + 4 * M1 * G2 * et_gen
                + 18 * H_gen * et_gen**2 / eta_g**2,
                conditions=(
                    STEP_PRINTED,
                    SERVER_STEP,
                    ROUNDS_PRINTED,
                    Condition(
                        "step size from below", et_gen >= 1 / (mu * R), "the end of the proof, before the tuning"
                    ),
                ),
                assumptions=(*STRONGLY_CONVEX_PRINTED, followed_objective),
                belief=Belief.FALSE,
                remark=LACKS,
                printed_rate=rate_strongly_convex,
            ),
        },
    ),
    "theorem_e_1_strongly_convex_tuned": Theorem(
        **CASE_STRONGLY_CONVEX,
        title="FedShuffleGen at the tuned step size, strongly convex",
        symbols=(*NOTATION, HORIZON),
        metric=Metric.drawn("gap", VALUE, rounds=R, **WEIGHTED),
        readings={
            "corrected": Reading(
                bound=15 * mu * D * sp.exp(-mu * R / (2 * INVERSE))
                + 40 * M1 * G2 / (mu * R) * (3 + ell)
                + 360 * L * H_gen / (mu * R * W * eta_g) ** 2 * (3 + ell**2),
                choices={"eta_l": sp.Min(1 / INVERSE, 2 * ell / (mu * R)) / (W * eta_g)},
                conditions=(ROUNDS, B_AT_LEAST_1, NO_MINIMISER),
                replaces="the middle term without L and W^2, the step eta_l*eta_g by W*eta_g*eta_l, M2 in beta, and "
                "the coefficients 4, 18 and 10 after the division by et/10",
                why=f"{LOCAL} effective step, and with it the exponent. {JENSEN} The step is 2*ell/(mu R), where ell "
                "is at least 1/2, at most mu R/2 times the largest step, and has both error terms in its logarithm: "
                "the printed log(.)/(mu R) leaves exp(-et mu R/2) of the order 1/sqrt(R), looks at c1 alone, and may "
                "be 0.",
                remark=ET,
            ),
            "sharp": Reading(
                bound=sp.Rational(3, 2) * mu * D * sp.exp(-mu * R / (2 * INVERSE))
                + 4 * M1 * G2 / (mu * R) * (3 + ell_sharp)
                + 20 * L * H_gen / (mu * R * W * eta_g) ** 2 * (3 + ell_sharp**2),
                choices={"eta_l": sp.Min(1 / INVERSE, 2 * ell_sharp / (mu * R)) / (W * eta_g)},
                conditions=(ROUNDS, B_AT_LEAST_1, NO_MINIMISER),
                why=AS_5_1,
                **SHARP,
            ),
            "as_printed": Reading(
                bound=rate_strongly_convex,
                choices={"eta_l": step_printed / eta_g},
                conditions=(ROUNDS_PRINTED, SERVER_STEP, NO_MINIMISER),
                assumptions=(*STRONGLY_CONVEX_PRINTED, followed_objective),
                belief=Belief.FALSE,
                remark="The middle term lacks L and W^2, the last term has D^2 for D, and the step condition does not "
                "know W. The printed order with the constant 1, at the printed step.",
                printed_rate=rate_strongly_convex,
            ),
        },
    ),
}
