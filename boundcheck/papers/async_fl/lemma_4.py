"""Lemma 4 (72): the inner product of the step with the way to a point."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 4", "Appendix A.3, (72)"),
    title="Twice the inner product -D of the step with the way to a point",
    symbols=NOTATION,
    metric=of_a_round("work_inner", VALUE, scale=sp.Integer(-2)),
    any_method=True,
    readings={
        "corrected": Reading(
            bound=-2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 12 * e * q * L * sg1,
            belief=Belief.TRUE,
            conditions=(DRIFT,),
            assumptions=CORRECTED,
            replaces=f"6 by 12, {WHOLE_ROUNDS}",
            why=f"It is built on (61): {TWELVE}. {VIRTUAL}. {SAMPLES}",
        ),
        "as_printed": Reading(
            bound=-2 * Xi + 4 * L * q * tau * Qs + 4 * D * Z + 6 * e * q * L * sg1,
            belief=Belief.FALSE,
            metric=of_a_round("virtual_inner", VALUE, scale=sp.Integer(-2)),
            assumptions=PRINTED,
            symbols=(L_OF_CLIENTS, *AT_VIRTUAL),
            remark="The factor q(n) of the delays is the right one here. D <= 1/2 is used and not said.",
        ),
    },
)
