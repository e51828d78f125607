"""Theorem 2: the mean squared gradient of the federated problem, by Theorem 1 and (105).

(17): O(R) + P + U + O(eps_F) + eps_K + eps_alpha + eps_beta; the paper hides all constants and L in O(.).
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

# of Theorem 1: the mean gap of the rounds' own problems, corrected and as printed
round_gap = R + eps_F + eps_K + eps_alpha + eps_beta
round_gap_printed = R + eps_F + eps_K_printed + eps_alpha_printed + eps_beta_printed

GAP_WHY = "(105) is corrected, and divided by the smallest q(n). Rounds without clients have a gradient, but no L^n."
ITERATES = "U is a mean over the iterates, not known before a run, unless every kind of data takes part in every round."

theorem = Theorem(
    source=Source(PAPER, "Theorem 2", "Section 3.3, (17) to (19); constants from Appendix B, (105)"),
    title="Mean squared gradient of the federated problem",
    symbols=NOTATION,
    any_method=True,
    metric=mean_over_rounds("grad2", GRADIENT2),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=4 * L * (2 * chi2_max + 1) / q_min * round_gap + 8 * L * P + 8 * L * U,
            conditions=(STEP_98, BETA_9_RHO),
            assumptions=(*CORRECTED, no_empty_rounds),
            replaces=WHOLE_ROUNDS_REPLACE,
            why=f"{WHOLE_ROUNDS_WHY} {GAP_WHY}",
            remark=ITERATES,
        ),
        "corrected_every_type": Reading(
            bound=4 * L * (chi2_max + 1) / q_min * round_gap + 4 * L * P,
            conditions=(STEP_98, BETA_9_RHO),
            assumptions=(*CORRECTED, every_type_every_round),
            replaces=WHOLE_ROUNDS_REPLACE,
            why=f"{WHOLE_ROUNDS_WHY} {GAP_WHY} With every kind of data in every round U = 0 and 8 becomes 4.",
        ),
        "as_printed": Reading(
            bound=4 * L * (chi2_max / q_min + 1 / q_min**2) * round_gap_printed + 4 * L * P + 4 * L * U,
            belief=Belief.FALSE,
            metric=mean_over_rounds("virtual_grad2", GRADIENT2),
            conditions=(STEP_98, *ASSUMPTION_5),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS,),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} The constants are those of (105), which has 1/q^2 where 1/q belongs. "
            f"{ITERATES}",
        ),
    },
)
