"""Corollary 1: the mean gap of the federated problem where every round weighs the kinds of data as it does.

(20): eps_F + eps_K + eps_alpha + eps_beta. L^n = q(n) L, so that all rounds have the same minimiser and R is 0.
"""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Corollary 1", "Section 3.3, (20)"),
    title="Mean gap of the federated problem under the same expected weights in every round",
    symbols=NOTATION,
    any_method=True,
    metric=mean_over_rounds("gap", VALUE),
    trivial=L / 2 * dist2_0,
    readings={
        "corrected": Reading(
            bound=(eps_F + eps_K + eps_alpha + eps_beta).subs(R, 0) / q_min,
            belief=Belief.TRUE,
            conditions=(STEP_98, BETA_9_RHO),
            assumptions=(*CORRECTED, same_expected_weights, no_empty_rounds),
            replaces=WHOLE_ROUNDS_REPLACE,
            why=f"{WHOLE_ROUNDS_WHY} Since L^n = q(n) L, the gap of L is that of L^n divided by q(n), which (20) "
            "drops.",
        ),
        "as_printed": Reading(
            bound=(eps_F + eps_K_printed + eps_alpha_printed + eps_beta_printed).subs(R, 0),
            belief=Belief.FALSE,
            metric=mean_over_rounds("virtual_gap", VALUE),
            conditions=(STEP_98, *ASSUMPTION_5),
            assumptions=(*PRINTED, same_expected_weights),
            symbols=(L_OF_CLIENTS,),
            remark=f"{FALSE_FOR_SEVERAL_STEPS} q(n) is dropped: a single client with a small aggregation weight breaks "
            "the bound even for K = 1. 'W_n is empty' in the proof must be: no kind of data is outside W_n.",
        ),
    },
)
