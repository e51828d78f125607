"""Theorem 1: the mean gap of the problems L^n of the rounds is at most R plus four error terms.

(13): R + eps_F + eps_K + eps_alpha + eps_beta. The paper hides all constants and L in O(.); the printed readings take
them from line (93) of its proof and the step to (94), with the effective step et = eta_g eta_l at the virtual models
theta^{n,k} of (7). The corrected ones follow by the same argument for whole rounds, with the step h = K et of a round
at the real models theta^n: who takes part is then drawn once between two models, so that the cross term of Lemma 2
vanishes, which it does not between theta^{n,k} and theta^{n,k+1} for K >= 2.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

BETA_CERTAIN = nonnegative("beta_det", "beta at alpha = 1 of weights that are not random", latex=r"\beta",
                           key="participation/beta_certain")  # fmt: skip

# (96) as printed, and with the sum q(n) that it drops
Sigma_1_printed = 4 * L * R + 2 * Sigma
Sigma_2_printed = q_max * Sigma_1_printed
Sigma_1 = Sigma_1_printed / q_min
Sigma_2 = sp.Min(1, q_max / q_min) * Sigma_1

c = 4 * D + 12 * rho * (2 * alpha + beta) * L * spread_h  # of (92): the part of the gap that comes back on the right
# (13), for whole rounds and as printed
corrected = R + eps_F + eps_K + eps_alpha + eps_beta
printed = R + eps_F + eps_K_printed + eps_alpha_printed + eps_beta_printed
AS_PRINTED: dict[str, Any] = {
    "belief": Belief.FALSE,
    "metric": mean_over_rounds("virtual_round_gap", VALUE),
    "assumptions": PRINTED,
    "symbols": (L_OF_CLIENTS,),
}

theorem = Theorem(
    source=Source(PAPER, "Theorem 1", "Section 3.2, (13) to (16); constants from Appendix A, (93) and (94)"),
    title="Mean gap of the rounds' own problems",
    symbols=NOTATION,
    any_method=True,
    metric=mean_over_rounds("round_gap", VALUE),
    trivial=R + q_bar * L / 2 * dist2_0,  # of a method that never moves, in the mean
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=corrected,
            conditions=(STEP_98, BETA_9_RHO),
            assumptions=CORRECTED,
            replaces=WHOLE_ROUNDS_REPLACE,
            why=WHOLE_ROUNDS_WHY,
        ),
        "corrected_sigma": Reading(
            bound=corrected.subs({S1: Sigma_1, S2: Sigma_2}),
            conditions=(STEP_98, BETA_9_RHO),
            assumptions=CORRECTED,
            replaces=WHOLE_ROUNDS_REPLACE,
            why=f"{WHOLE_ROUNDS_WHY} Sigma_1 is at most (4 L R + 2 Sigma)/min q(n): (96) holds for q(n) >= 1 alone.",
        ),
        "corrected_certain": Reading(
            bound=corrected.subs({alpha: 1, beta: 0}),
            conditions=(STEP_98, Condition("certain cohorts", sp.Eq(BETA_CERTAIN.expr, 0))),
            assumptions=CORRECTED,
            symbols=(BETA_CERTAIN,),
            replaces=WHOLE_ROUNDS_REPLACE,
            why=f"{WHOLE_ROUNDS_WHY} Where it is known who takes part, E w_i w_j = w_i w_j, and alpha = 1 is legal "
            "with beta = 0, also for one client a round, for which the paper takes alpha = 0 and beta = max d_i.",
        ),
        "sharp": Reading(
            bound=R
            + (
                dist2_0 / (h * rounds)
                + c * R
                + 12 * rho * e * L * S1
                + spread_h * (6 * rho**2 * (alpha * D + beta) * S1 + 6 * rho**2 * alpha * S2 / K)
            )
            / (2 - c),
            conditions=(
                DRIFT,
                Condition("delays", 12 * rho**2 * (alpha + beta) * (h * tau * L) ** 2 <= sp.Rational(1, 2), "Lemma 6"),
                Condition("movement", 3 * rho * (alpha + beta) * h * L <= 1, "Theorem 1"),
                Condition("contraction", c <= 1, "(92)"),
            ),
            assumptions=CORRECTED,
            replaces=WHOLE_ROUNDS_REPLACE,
            why="The conditions on the step are those that the proof uses, not the simpler (98), and the coefficient 2 "
            f"- c of the left side is kept. {WHOLE_ROUNDS_WHY}",
        ),
        "as_printed": Reading(
            bound=printed,
            **AS_PRINTED,
            conditions=(STEP_98, *ASSUMPTION_5),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} The constants are those at which the printed proof ends, in Sigma_1 and "
            "Sigma_2 of (94).",
        ),
        "as_printed_used": Reading(
            bound=printed,
            **AS_PRINTED,
            conditions=(STEP_98,),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} As Section 4 applies it: with alpha = 0 and alpha = 1, which Assumption "
            "5 excludes.",
        ),
        "as_printed_sigma": Reading(
            bound=printed.subs({S1: Sigma_1_printed, S2: Sigma_2_printed}),
            **AS_PRINTED,
            conditions=(STEP_98, *ASSUMPTION_5),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} (13) to (16): Sigma_1 and Sigma_2 replaced by (96).",
        ),
    },
)
