"""Equation (11): the averaging matrix P_(1,1) of the example with m = 2, tau = 2 and blocks of 2 and 1 numbers."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

theorem = Theorem(
    source=Source(PAPER, "equation (11)", "Appendix A"),
    title="What the second worker's number weighs in the first one's average",
    symbols=NOTATION,
    metric=Metric.constant("blocks/cross_weight", ONE, "the method"),
    kind=Kind.EQUALITY,
    algorithm=Algorithm("block_averaging", any_value=("partition", "order")),
    conditions=(
        Condition("workers", sp.Eq(m, 2)),
        Condition("blocks", sp.Eq(tau, 2)),
        Condition("numbers", sp.Eq(d, 3), "blocks of 2 and 1"),
    ),
    assumptions=(averages_uniformly,),
    readings={
        "corrected": Reading(
            bound=sp.Rational(1, 2),
            belief=Belief.TRUE,
            replaces="diag(1/2, 1/2) by the matrix with all entries 1/2",
            why="(8) gives (1/m) 1 1' kron I. The printed matrix halves every model: its rows sum to 1/2, against "
            "property 1, and J P is not J, against property 2.",
        ),
        "as_printed": Reading(
            bound=sp.S.Zero, belief=Belief.FALSE, remark="The entry off the diagonal is printed as 0."
        ),
    },
)
