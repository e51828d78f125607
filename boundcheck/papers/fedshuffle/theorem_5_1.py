"""Theorem 5.1: FedShuffle where the losses are convex, not convex, and strongly convex.

The theorem is about the step size that the number of rounds prescribes ("tuned") and hides all constants in O(.). Here
each case also stands at any fixed step size within the condition; what is printed of that comes from Appendix C.

General convex, non-convex: the bound at a fixed step is d0/(et R) + c1 et + c2 et^2. Lemma B.3 turns it into
4 beta L d0/R + 2 sqrt(c1 d0/R) + 2 c2^(1/3) (d0/R)^(2/3) at its step. Corrected d0, c1 and c2 are 10 D, 20 M G^2 and
90 L H/(eta_g E)^2 in the convex case, 8 F, 8 M L G^2 and 18 L^2 H/(eta_g E)^2 in the other.
Strongly convex: the print at a fixed step is the last display on this case in Appendix C, mu exp(-et mu R/2) d + et c1
+ et^2 c2 for et >= 1/(mu R). The tuned step is that of Lemma B.2, repaired for two error terms: et = min(1/(4 beta L),
2 ell/(mu R)).

The letters et, beta and H are those of Section 5; beta_c and H_c have the P^2 and sigma^2 of Lemma C.2, a third of
Section 5's.
"""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

AT_MOST = Condition("step size", et <= 1 / (4 * beta * L), "on the effective step E*eta_g*eta_l of a round")
AT_MOST_C = Condition("step size", et <= 1 / (4 * beta_c * L), "on the effective step E*eta_g*eta_l of a round")
ROUNDS = Condition("rounds", sp.Ge(R, 4 * beta * L / mu), "so that a step of 1/(mu R) is allowed")
ROUNDS_C = Condition("rounds", sp.Ge(R, 4 * beta_c * L / mu), "so that a step of 1/(mu R) is allowed")
NO_MINIMISER = Condition("start", D > 0, "the start is no minimiser")
NO_MINIMUM = Condition("start", F > 0, "the start is no minimum")


def step(d0: Any, c1: Any, c2: Any, beta: Any) -> Any:
    """The effective step of Lemma B.3, min(1/(4 beta L), sqrt(d0/(c1 R)), (d0/(c2 R))^(1/3)), also for c1 = c2 = 0."""
    return 1 / sp.Max(4 * beta * L, sp.sqrt(c1 * R / d0), sp.cbrt(c2 * R / d0))


# exp(ell) is start/noise: what the start contributes over the larger one of the two error terms. The last member of the
# maximum is reached where the step is the largest allowed one; it changes no step and covers errors of 0.
start = sp.Rational(5, 2) * mu**2 * R * D
noise = sp.Max(20 * M * G2, 180 * L * H / (mu * R * (eta_g * E) ** 2), start * sp.exp(-mu * R / (8 * beta * L)))
ell = sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, start / noise)))

start_sharp = mu**2 * R * D / 4
noise_sharp = sp.Max(
    2 * M * G2, 10 * L * H_c / (mu * R * (eta_g * E) ** 2), start_sharp * sp.exp(-mu * R / (8 * beta_c * L))
)
ell_sharp = sp.Max(sp.Rational(1, 2), sp.log(sp.Max(1, start_sharp / noise_sharp)))

# as printed: log(max(1, mu^2 R d/c1))/(mu R), with the d and c1 of the end of Appendix C, at most 1/(4 beta L)
start_printed = 10 * mu**2 * R * D
noise_printed = sp.Max(4 * M * G2, start_printed * sp.exp(-mu * R / (4 * beta * L)))
step_printed = sp.log(sp.Max(1, start_printed / noise_printed)) / (mu * R)

left = (1 - mu * et / 2) ** R  # what R contractions leave of the start; the sum of the weights is exact
WEIGHTS = (1 - mu * et / 2) ** -ROUND

# the three orders that are printed
rate_convex = sp.sqrt(D * M * G2 / R) + sp.cbrt(D / R) ** 2 * sp.cbrt(H / (eta_g * E) ** 2) + L * D * beta / R
rate_nonconvex = (
    sp.sqrt(F * M * L * G2 / R) + sp.cbrt(F / R) ** 2 * sp.cbrt(L * H / (eta_g * E) ** 2) + L * F * beta / R
)
rate_strongly_convex = M * G2 / (mu * R) + H / (mu * R * eta_g * E) ** 2 + mu * D**2 * sp.exp(-mu * R / (8 * beta * L))

FROM_APPENDIX = "the middle term without the factor L, and the coefficients 4, 18 and 10 after the division by et/10"
WHY_APPENDIX = (
    f"{LOST_L} The line before the last of the proof gives 20 M G^2 and 90 L H; the sum of the weights is kept "
    "exactly, so that no number of rounds is too small."
)
FROM_SHARP = "the coefficients 10, 20 and 90 of the paper's recursion by 1, 2 and 5"
ONE_CONDITION = "Both lemmas share one step condition, and (1 + M B^2)/beta and (1 + P) B/beta sum to 1"
WHY_SHARP = (
    f"{ONE_CONDITION}: with them the gap keeps the coefficient et instead of et/10. P^2 and sigma^2 are those of Lemma "
    "C.2, a third of Section 5's."
)
FROM_SHARP_NONCONVEX = "the coefficients 8, 8 and 18 of the paper's recursion by 4, 4 and 6"
WHY_SHARP_NONCONVEX = (
    f"{ONE_CONDITION}: with them the gradient keeps the coefficient et/4 instead of et/8. P^2 and sigma^2 are those of "
    "Lemma C.2, a third of those of Section 5."
)
WHY_L_SQUARED = f"{LOST_L} The coefficients 8, 8 and 18 of the printed proof are kept."
ABOUT_ELL = (
    "The step is 2*ell/(mu R), where ell is at least 1/2, at most mu R/(8 beta L), and has both error terms in its "
    "logarithm: the printed log(.)/(mu R) leaves exp(-et mu R/2) of the order 1/sqrt(R), looks at c1 alone, and may be "
    "0. From ell = mu R/(8 beta L) on the step is 1/(4 beta L), so that the cap changes no step, lowers the bound and "
    "covers c1 = c2 = 0."
)
WRONG_UNIT = "The units of the middle term and of the left side disagree, so that scaling f breaks the bound."
ET = "Here et is the effective step E*eta_g*eta_l of a round"
ET_H = f"{ET}, and H is (E^2 + P^2) G^2 + sigma^2."
ET_BETA = f"{ET}, and beta is 1 + (1 + P) B + M B^2."
ET_BETA_C = (
    f"{ET}, beta is 1 + (1 + P) B + M B^2, and c1 and c2 are the coefficients of et and et^2 in the bound at a fixed "
    "step."
)

theorems = {
    "theorem_5_1_convex": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, general convex; constants from Appendix C"),
        title="FedShuffle at a fixed step size, general convex",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("gap", VALUE, index=R, expectation=OUTPUT),
        assumptions=(convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, data_weights),
        trivial=F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=10 * D / (et * R) + 20 * M * G2 * et + 90 * L * H * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST, SERVER_STEP, B_AT_LEAST_1),
                replaces=FROM_APPENDIX,
                why=WHY_APPENDIX,
                remark=ET_H,
            ),
            "sharp": Reading(
                bound=D / (et * R) + 2 * M * G2 * et + 5 * L * H_c * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST_C, SERVER_STEP, B_AT_LEAST_1),
                replaces=FROM_SHARP,
                why=WHY_SHARP,
                remark=ET_BETA,
            ),
            "as_printed": Reading(
                bound=10 * D / (et * R) + 20 * M * G2 * et + 90 * H * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST, SERVER_STEP),
                assumptions=(convex_samples, smooth_samples, gradient_dissimilarity, local_variance, data_weights),
                belief=Belief.FALSE,
                remark=WRONG_UNIT,
                printed_rate=rate_convex,
            ),
        },
    ),
    "theorem_5_1_convex_tuned": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, general convex; constants from Appendix C"),
        title="FedShuffle at the tuned step size, general convex",
        symbols=(*NOTATION, HORIZON),
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("gap", VALUE, rounds=R, expectation=OUTPUT),
        assumptions=(convex_samples, smooth_samples, relaxed_dissimilarity, local_variance, data_weights),
        trivial=F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                choices={"eta_l": step(10 * D, 20 * M * G2, 90 * L * H / (eta_g * E) ** 2, beta) / (E * eta_g)},
                bound=4 * beta * L * (10 * D) / R
                + 2 * sp.sqrt(20 * M * G2 * 10 * D / R)
                + 2 * sp.cbrt(90 * L * H / (eta_g * E) ** 2) * sp.cbrt(10 * D / R) ** 2,
                conditions=(SERVER_STEP, B_AT_LEAST_1, NO_MINIMISER),
                replaces=FROM_APPENDIX,
                why=WHY_APPENDIX,
                remark=ET_H,
            ),
            "sharp": Reading(
                choices={"eta_l": step(D, 2 * M * G2, 5 * L * H_c / (eta_g * E) ** 2, beta_c) / (E * eta_g)},
                bound=4 * beta_c * L * D / R
                + 2 * sp.sqrt(2 * M * G2 * D / R)
                + 2 * sp.cbrt(5 * L * H_c / (eta_g * E) ** 2) * sp.cbrt(D / R) ** 2,
                conditions=(SERVER_STEP, B_AT_LEAST_1, NO_MINIMISER),
                replaces=FROM_SHARP,
                why=WHY_SHARP,
                remark=ET_BETA,
            ),
            "as_printed": Reading(
                choices={"eta_l": step(10 * D, 20 * M * G2, 90 * H / (eta_g * E) ** 2, beta) / (E * eta_g)},
                bound=rate_convex,
                conditions=(SERVER_STEP, NO_MINIMISER),
                assumptions=(convex_samples, smooth_samples, gradient_dissimilarity, local_variance, data_weights),
                belief=Belief.FALSE,
                remark=f"{WRONG_UNIT} The printed order with the constant 1, at Lemma B.3's step.",
                printed_rate=rate_convex,
            ),
        },
    ),
    "theorem_5_1_nonconvex": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, non-convex; constants from Appendix C"),
        title="FedShuffle at a fixed step size, non-convex",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("grad2", GRADIENT2, index=R, expectation=OUTPUT),
        assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
        trivial=2 * L * F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=8 * F / (et * R) + 8 * M * L * G2 * et + 18 * L**2 * H * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST, SERVER_STEP, B_AT_LEAST_1),
                replaces="the middle term with L by one with L^2",
                why=WHY_L_SQUARED,
                remark=f"{ET}.",
            ),
            "sharp": Reading(
                bound=4 * F / (et * R) + 4 * M * L * G2 * et + 6 * L**2 * H_c * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST_C, SERVER_STEP, B_AT_LEAST_1),
                replaces=FROM_SHARP_NONCONVEX,
                why=WHY_SHARP_NONCONVEX,
                remark=ET_BETA,
            ),
            "as_printed": Reading(
                bound=8 * F / (et * R) + 8 * M * L * G2 * et + 18 * L * H * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST, SERVER_STEP),
                belief=Belief.FALSE,
                remark=WRONG_UNIT,
                printed_rate=rate_nonconvex,
            ),
        },
    ),
    "theorem_5_1_nonconvex_tuned": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, non-convex; constants from Appendix C"),
        title="FedShuffle at the tuned step size, non-convex",
        symbols=(*NOTATION, HORIZON),
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("grad2", GRADIENT2, rounds=R, expectation=OUTPUT),
        assumptions=(smooth_samples, gradient_dissimilarity, local_variance, bounded_below, data_weights),
        trivial=2 * L * F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                choices={"eta_l": step(8 * F, 8 * M * L * G2, 18 * L**2 * H / (eta_g * E) ** 2, beta) / (E * eta_g)},
                bound=4 * beta * L * (8 * F) / R
                + 2 * sp.sqrt(8 * M * L * G2 * 8 * F / R)
                + 2 * sp.cbrt(18 * L**2 * H / (eta_g * E) ** 2) * sp.cbrt(8 * F / R) ** 2,
                conditions=(SERVER_STEP, B_AT_LEAST_1, NO_MINIMUM),
                replaces="the middle term with L by one with L^2",
                why=WHY_L_SQUARED,
                remark=f"{ET}.",
            ),
            "sharp": Reading(
                choices={"eta_l": step(4 * F, 4 * M * L * G2, 6 * L**2 * H_c / (eta_g * E) ** 2, beta_c) / (E * eta_g)},
                bound=4 * beta_c * L * (4 * F) / R
                + 2 * sp.sqrt(4 * M * L * G2 * 4 * F / R)
                + 2 * sp.cbrt(6 * L**2 * H_c / (eta_g * E) ** 2) * sp.cbrt(4 * F / R) ** 2,
                conditions=(SERVER_STEP, B_AT_LEAST_1, NO_MINIMUM),
                replaces=FROM_SHARP_NONCONVEX,
                why=WHY_SHARP_NONCONVEX,
                remark=ET_BETA,
            ),
            "as_printed": Reading(
                choices={"eta_l": step(8 * F, 8 * M * L * G2, 18 * L * H / (eta_g * E) ** 2, beta) / (E * eta_g)},
                bound=rate_nonconvex,
                conditions=(SERVER_STEP, NO_MINIMUM),
                belief=Belief.FALSE,
                remark=f"{WRONG_UNIT} The printed order with the constant 1, at Lemma B.3's step.",
                printed_rate=rate_nonconvex,
            ),
        },
    ),
    "theorem_5_1_strongly_convex": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, strongly convex; constants from Appendix C"),
        title="FedShuffle at a fixed step size, strongly convex",
        symbols=NOTATION,
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("gap", VALUE, index=R, weights=WEIGHTS, expectation=OUTPUT),
        domain=(MU_AT_MOST_L,),
        assumptions=(*STRONGLY_CONVEX, data_weights),
        trivial=F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                bound=5 * mu * D * left / (1 - left) + 20 * M * G2 * et + 90 * L * H * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST, SERVER_STEP, B_AT_LEAST_1),
                replaces=FROM_APPENDIX,
                why=WHY_APPENDIX,
                remark=ET_H,
            ),
            "sharp": Reading(
                bound=mu / 2 * D * left / (1 - left) + 2 * M * G2 * et + 5 * L * H_c * et**2 / (eta_g * E) ** 2,
                conditions=(AT_MOST_C, SERVER_STEP, B_AT_LEAST_1),
                replaces=FROM_SHARP,
                why=WHY_SHARP,
                remark=ET_BETA,
            ),
            "as_printed": Reading(
                bound=10 * mu * D * sp.exp(-et * mu * R / 2) + 4 * M * G2 * et + 18 * H * et**2 / (eta_g * E) ** 2,
                conditions=(
                    AT_MOST,
                    SERVER_STEP,
                    ROUNDS,
                    Condition("step size from below", et >= 1 / (mu * R), "the end of Appendix C, before the tuning"),
                ),
                assumptions=(*STRONGLY_CONVEX_PRINTED, data_weights),
                belief=Belief.FALSE,
                remark=WRONG_UNIT,
                printed_rate=rate_strongly_convex,
            ),
        },
    ),
    "theorem_5_1_strongly_convex_tuned": Theorem(
        source=Source(PAPER, "Theorem 5.1", "Section 5, strongly convex; constants from Appendix C"),
        title="FedShuffle at the tuned step size, strongly convex",
        symbols=(*NOTATION, HORIZON),
        algorithm=FEDSHUFFLE,
        metric=Metric.drawn("gap", VALUE, rounds=R, weights=WEIGHTS, expectation=OUTPUT),
        domain=(MU_AT_MOST_L,),
        assumptions=(*STRONGLY_CONVEX, data_weights),
        trivial=F,
        belief=Belief.TRUE,
        readings={
            "corrected": Reading(
                choices={"eta_l": sp.Min(1 / (4 * beta * L), 2 * ell / (mu * R)) / (E * eta_g)},
                bound=15 * mu * D * sp.exp(-mu * R / (8 * beta * L))
                + 40 * M * G2 / (mu * R) * (3 + ell)
                + 360 * L * H / (mu * R * eta_g * E) ** 2 * (3 + ell**2),
                conditions=(ROUNDS, SERVER_STEP, B_AT_LEAST_1, NO_MINIMISER),
                replaces=FROM_APPENDIX,
                why=f"{LOST_L} {ABOUT_ELL}",
                remark=ET_BETA_C,
            ),
            "sharp": Reading(
                choices={"eta_l": sp.Min(1 / (4 * beta_c * L), 2 * ell_sharp / (mu * R)) / (E * eta_g)},
                bound=sp.Rational(3, 2) * mu * D * sp.exp(-mu * R / (8 * beta_c * L))
                + 4 * M * G2 / (mu * R) * (3 + ell_sharp)
                + 20 * L * H_c / (mu * R * eta_g * E) ** 2 * (3 + ell_sharp**2),
                conditions=(ROUNDS_C, SERVER_STEP, B_AT_LEAST_1, NO_MINIMISER),
                replaces=FROM_SHARP,
                why=f"{WHY_SHARP} {ABOUT_ELL}",
                remark=ET_BETA_C,
            ),
            "as_printed": Reading(
                choices={"eta_l": step_printed / (E * eta_g)},
                bound=rate_strongly_convex,
                conditions=(ROUNDS, SERVER_STEP, NO_MINIMISER),
                assumptions=(*STRONGLY_CONVEX_PRINTED, data_weights),
                belief=Belief.FALSE,
                remark=f"{WRONG_UNIT} The printed order with the constant 1, at the printed step.",
                printed_rate=rate_strongly_convex,
            ),
        },
    ),
}
