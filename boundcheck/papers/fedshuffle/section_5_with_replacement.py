"""Section 5: how the noise of local steps with replacement depends on the rounds, without strong convexity."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

dist2, slope = sp.symbols("dist2 slope", real=True)
BALANCED = (
    positive("dist2", "squared distance of the start", LENGTH2),
    positive("slope", "coefficient of the step in the noise", GRADIENT2, latex="c"),
)


def noise(rounds: Any) -> Any:
    """The term slope et at the step et that makes dist2/(et R) + slope et least, where both are equal."""
    return slope * sp.sqrt(dist2 / (slope * rounds))


theorem = Theorem(
    source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1: 'this would be R and R^(1/3)'"),
    title="Order in R of the noise term of unbiased local steps, general convex and non-convex",
    symbols=(HORIZON, *BALANCED),
    metric=Metric.formula(ONE, noise(R) / noise(1)),
    kind=Kind.EQUALITY,
    printed_rate=1 / sp.cbrt(R),
    readings={
        "corrected": Reading(
            bound=1 / sp.sqrt(R),
            belief=Belief.TRUE,
            replaces="R^(1/3) by R^(1/2)",
            why="Independent noise enters the recursion with the square of the step, as M G^2 does: Lemma B.3 turns "
            "d/(et R) + c1 et into 2 (c1 d/R)^(1/2).",
            remark="Here et is the effective step E*eta_g*eta_l of a round.",
        ),
        "as_printed": Reading(
            bound=1 / sp.cbrt(R),
            belief=Belief.FALSE,
            remark="True as a bound, but not the order: unbiased noise decays faster.",
        ),
    },
)
