"""Lemma 3: the distance of local models to the global one (61), and the mean square of stochastic gradients (62)."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

SHARED: dict[str, Any] = {"symbols": NOTATION, "any_method": True, "conditions": (DRIFT,)}

theorems = {
    "lemma_3": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 3", "Appendix A.3, (61)"),
        title="Mean squared distance phi of the local models to the global one",
        metric=of_a_round("work_distance2", LENGTH2),
        readings={
            "corrected": Reading(
                bound=4 * tau * Qs + 4 * D * Z / (L * q) + 12 * e * sg1,
                belief=Belief.TRUE,
                assumptions=CORRECTED,
                replaces=f"the factor q(n) by 1 and 6 by 12, {WHOLE_ROUNDS}",
                why=f"{TWELVE}. {VIRTUAL}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=4 * q * tau * Qs + 4 * D * Z / (L * q) + 6 * e * sg1,
                belief=Belief.FALSE,
                metric=of_a_round("virtual_distance2", LENGTH2),
                assumptions=PRINTED,
                symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
                remark="With q(n) < 1/4, K = 1 and tau = 1 the left side is Q(n-1), the right one 4 q(n) Q(n-1) and a "
                "gap that may be 0. For eta_g >= 6 and K = 2 it fails for one client without delays too.",
            ),
        },
    ),
    "lemma_3_gradients": Theorem(
        **SHARED,
        source=Source(PAPER, "Lemma 3", "Appendix A.3, (62)"),
        title="Mean square S of the stochastic gradients along local work",
        metric=of_a_round("work_grad2", GRADIENT2),
        readings={
            "corrected": Reading(
                bound=12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
                belief=Belief.TRUE,
                assumptions=CORRECTED,
                replaces=f"the factor q(n) of the delays by 1, {WHOLE_ROUNDS}",
                why=f"The normalised weights sum to 1, so that no q(n) comes before the delays. {VIRTUAL}. {SAMPLES}",
            ),
            "as_printed": Reading(
                bound=12 * q * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1,
                belief=Belief.FALSE,
                assumptions=PRINTED,
                symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
                remark="Too small for q(n) < 1/12 and a delay of one round: with K = 1 the left side can be L^2 "
                "Q(n-1), the right one 12 q(n) L^2 Q(n-1). It also fails where samples are steeper than L, as in Lemma "
                "5.",
            ),
        },
    ),
}
