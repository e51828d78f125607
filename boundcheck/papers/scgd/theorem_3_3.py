"""Theorem 3.3: SCGD with a constant step size, after K cycles (T = nK rounds)."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

DETERMINISTIC = "none: the method is deterministic, so the printed E is over the start at most"

theorem = Theorem(
    source=Source(PAPER, "Theorem 3.3", "Section 3.2, step condition (3) with C of equation (2)"),
    title="SCGD with a constant step size",
    symbols=NOTATION,
    algorithm=Algorithm("scgd", ("E", "eta")),
    metric=Metric.last("dist2", LENGTH2, index=K, rounds=n * K, expectation=DETERMINISTIC),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    bound=(1 - mu * s / 3) ** K * dist2_0 + 12 * L**2 * s**2 / mu**2 * sigma2,
    trivial=dist2_0,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(conditions=(STEP_APPENDIX,), replaces=REPAIRED, why=WHY_REPAIRED),
        "as_printed_main": Reading(conditions=(STEP_MAIN,), belief=Belief.FALSE, remark=MAIN_IS_FALSE),
        "as_printed_appendix": Reading(conditions=(STEP_APPENDIX,), remark=APPENDIX_IS_TRUE),
        "conservative": Reading(conditions=(STEP_CONSERVATIVE,), replaces=CONSERVATIVE, why=WHY_CONSERVATIVE),
        "sharp": Reading(
            bound=CYCLE_FACTOR**K * dist2_0 + (1 - CYCLE_FACTOR**K) / (1 - CYCLE_FACTOR) * CYCLE_NOISE * sigma2,
            conditions=(CONTRACTING,),
            replaces=ROUNDED + "; and the infinite geometric series by the K terms that occur",
            why=WHY_ROUNDED,
        ),
    },
)
