"""Section 5: the middle term vanishes as eta_g -> oo, and its part from sigma^2 as E -> oo."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, strongly convex"),
    title="The middle term, from local steps with reshuffling",
    symbols=(*NOTATION, HORIZON),
    metric=Metric.formula(VALUE),
    kind=Kind.FORMULA,
    printed_rate=H / (mu * R * eta_g * E) ** 2,
    readings={
        "corrected": Reading(
            bound=L * H / (mu * R * eta_g * E) ** 2,
            domain=(MU_AT_MOST_L,),
            belief=Belief.TRUE,
            replaces="the term without the factor L",
            why="Lemma C.2 multiplies the drift by 3*L*et and then drops the L, so that its last term, and everything "
            "built on it, has the wrong unit.",
            remark="Here et is the effective step E*eta_g*eta_l of a round.",
        ),
        "as_printed": Reading(
            bound=H / (mu * R * eta_g * E) ** 2,
            belief=Belief.FALSE,
            remark="The two limits are right; the unit is not that of a gap.",
        ),
    },
)
