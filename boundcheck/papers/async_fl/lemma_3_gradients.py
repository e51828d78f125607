"""Lemma 3 (62): the mean square of the stochastic gradients."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 3", "Appendix A.3, (62)"),
    title="Mean square S of the stochastic gradients along local work",
    symbols=NOTATION,
    metric=of_a_round("work_grad2", GRADIENT2),
    any_method=True,
    conditions=(DRIFT,),
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
            remark="Too small for q(n) < 1/12 and a delay of one round: with K = 1 the left side can be L^2 Q(n-1), "
            "the right one 12 q(n) L^2 Q(n-1). It also fails where samples are steeper than L, as in Lemma 5.",
        ),
    },
)
