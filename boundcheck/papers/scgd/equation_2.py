"""Equation (2): the step-size constant C, in the three forms that the paper prints or implies."""

from __future__ import annotations

from boundcheck.papers.scgd._shared import MU_AT_MOST_L, PAPER, READINGS
from boundcheck.theory.dimension import STEP
from boundcheck.theory.statement import Kind, Metric, Source, Statement
from boundcheck.theory.symbols import common

BEST = "as_printed_appendix"

STATEMENTS = tuple(
    Statement(
        source=Source(PAPER, "equation (2)", "Section 3.1; printed again at the end of Appendix A"),
        reading=reading.name,
        title="The step-size constant C: n E eta may be at most this",
        symbols=(common.mu, common.L),
        metric=Metric("none", STEP),
        bound=reading.C,
        kind=Kind.FORMULA,
        domain=(MU_AT_MOST_L,),
        belief=reading.belief,
        replaces=reading.replaces,
        why=reading.why,
        remark=reading.remark,
    )
    for reading in READINGS
    if reading.name != "corrected"  # the corrected proof keeps the appendix's constant
)
