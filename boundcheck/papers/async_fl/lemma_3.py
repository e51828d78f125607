"""Lemma 3 (61): the distance of local models to the global one."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 3", "Appendix A.3, (61)"),
    title="Mean squared distance phi of the local models to the global one",
    symbols=NOTATION,
    metric=of_a_round("work_distance2", LENGTH2),
    any_method=True,
    conditions=(DRIFT,),
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
            remark="With q(n) < 1/4, K = 1 and tau = 1 the left side is Q(n-1), the right one 4 q(n) Q(n-1) and a gap "
            "that may be 0. For eta_g >= 6 and K = 2 it fails for one client without delays too.",
        ),
    },
)
