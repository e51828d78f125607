"""Lemma 3.1: one cycle of SCGD."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Lemma 3.1", "Section 3.1, step condition (1) with C of equation (2)"),
    title="One cycle of SCGD",
    symbols=NOTATION,
    algorithm=Algorithm("scgd", ("E", "eta")),
    metric=Metric.last("dist2", LENGTH2, rounds=n),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    bound=(1 - mu * s / 3) * dist2_0 + 4 * L**2 * s**3 / mu * sigma2,
    trivial=dist2_0,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(conditions=(STEP_APPENDIX,), replaces=REPAIRED, why=WHY_REPAIRED),
        "as_printed_main": Reading(conditions=(STEP_MAIN,), belief=Belief.FALSE, remark=MAIN_IS_FALSE),
        "as_printed_appendix": Reading(conditions=(STEP_APPENDIX,), remark=APPENDIX_IS_TRUE),
        "conservative": Reading(conditions=(STEP_CONSERVATIVE,), replaces=CONSERVATIVE, why=WHY_CONSERVATIVE),
        "sharp": Reading(
            bound=CYCLE_FACTOR * dist2_0 + CYCLE_NOISE * sigma2,
            conditions=(SUMMABLE,),
            replaces=ROUNDED,
            why=WHY_ROUNDED,
        ),
    },
)
