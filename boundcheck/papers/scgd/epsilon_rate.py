"""The order of dist2 under the "optimal setting" of the paragraph on the epsilon-complexity."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "epsilon-Time Complexity", "Section 3.2, first display"),
    title="dist2 after T rounds of the horizon-dependent step",
    symbols=HORIZON,
    algorithm=Algorithm("scgd", ("E", "ell", "T"), HORIZON_STEPS),
    metric=Metric.last("dist2", LENGTH2, rounds=T),
    assumptions=ASSUMPTIONS,
    domain=(MU_AT_MOST_L,),
    trivial=dist2_0,
    printed_rate=n**2 * sp.log(T) ** 2 / T**2,
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=dist2_0 / T**2 + 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2,
            conditions=(
                HORIZON_STEP_CONDITION,
                WHOLE_CYCLES,
                Condition("local steps", mu * ell * E >= 6, "E is at least 6/(mu*ell)"),
            ),
            replaces="the rule E >= 4/(mu*ell) by E >= 6/(mu*ell)",
            why="Only then is the contraction of Theorem 3.3 of the order of the noise term.",
        ),
        "as_printed": Reading(
            bound=T ** sp.Rational(-4, 3) * dist2_0
            + 12 * L**2 * ell**2 / mu**2 * sigma2 * n**2 * E**2 * sp.log(T) ** 2 / T**2,
            conditions=(
                HORIZON_STEP_CONDITION,
                WHOLE_CYCLES,
                Condition("local steps", mu * ell * E >= 4, "E is at least 4/(mu*ell)"),
            ),
            remark="The explicit form that Theorem 3.3 gives for the printed rule. Its first term is of the order "
            "T^(-4/3) only. The printed order is true nevertheless, for large T: the sharp reading of Theorem 3.3 "
            "contracts by 1 - mu s/2 up to terms of the order s^2, which makes the first term T^(-2).",
        ),
    },
)
