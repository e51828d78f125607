"""Theorem 3: the mean gap of the surrogate problem (10), for schedules that repeat after W rounds, and (27).

(26): eps = eps_F + eps_K + eps_alpha + eps_beta + eps_W; the paper hides all constants and L in O(.). eps_W is what a
window costs: where a sequence of values f_n changes by at most c from round to round, the sum over a window of
(q_i - q_i(n)) f_n is at most W q_i (W - 1) c, since the weights q_i - q_i(n) sum to 0 and their positive parts to at
most W q_i. In a round the model moves by rho K et B at most, in the mean. The second claim, (27), bounds the mean
squared gradient of the federated problem by the eps of the first.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

eps = eps_F + eps_K + eps_alpha + eps_beta + eps_W
eps_printed = eps_F + eps_K_printed + eps_alpha_printed + eps_beta_printed + eps_W / rho
AS_PRINTED: dict[str, Any] = {
    "belief": Belief.FALSE,
    "conditions": (STEP_98, *ASSUMPTION_5),
    "assumptions": (*PRINTED, window_property, bounded_gradients),
    "symbols": (L_OF_CLIENTS,),
}
CORRECT: dict[str, Any] = {
    "belief": Belief.TRUE,
    "conditions": (STEP_98, BETA_9_RHO),
    "assumptions": (*CORRECTED, window_property, bounded_gradients, bounded_sample_gradients),
    "replaces": WHOLE_ROUNDS_REPLACE,
}

theorems = {
    "theorem_3": Theorem(
        source=Source(PAPER, "Theorem 3", "Section 3.4, (26); constants from (28) and Appendix A"),
        title="Mean gap of the surrogate problem",
        symbols=NOTATION,
        any_method=True,
        metric=mean_over_rounds("gap", VALUE, scale=q_bar, surrogate=True),
        trivial=q_bar * L / 2 * dist2_0,  # the gap at the start is at most this
        readings={
            "corrected": Reading(
                bound=eps,
                **CORRECT,
                why=f"{WHOLE_ROUNDS_WHY} {WEIGHT_LOST}",
                remark=SCOPE,
            ),
            "as_printed": Reading(
                bound=eps_printed,
                **AS_PRINTED,
                metric=mean_over_rounds("virtual_gap", VALUE, scale=q_bar, surrogate=True),
                remark=f"{FALSE_FOR_SEVERAL_STEPS} {WEIGHT_LOST} {SCOPE}",
            ),
        },
    ),
    "theorem_3_gradient": Theorem(
        source=Source(PAPER, "Theorem 3, second claim", "Section 3.4, (27)"),
        title="Mean squared gradient of the federated problem, schedules that repeat",
        symbols=NOTATION,
        any_method=True,
        metric=mean_over_rounds("grad2", GRADIENT2),
        readings={
            "corrected": Reading(
                bound=4 * L / q_bar * (chi2 + 1) * eps + 4 * L * chi2 / q_bar * F_het,
                **CORRECT,
                why=f"{WHOLE_ROUNDS_WHY} (27) prints eps without a factor, whose unit is not that of a squared "
                f"gradient; with q the mean of q(n) it is 4 L (chi^2 + 1)/q. {WEIGHT_LOST}",
                remark=SCOPE,
            ),
            "as_printed": Reading(
                bound=eps_printed + 4 * L * chi2 * F_het,
                **AS_PRINTED,
                metric=mean_over_rounds("virtual_grad2", GRADIENT2),
                remark=f"{FALSE_FOR_SEVERAL_STEPS} The units of eps and of the left side disagree. The factor 4 L of "
                "the last term is that of (105).",
            ),
        },
    ),
}
