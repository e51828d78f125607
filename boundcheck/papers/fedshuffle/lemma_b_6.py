"""Lemma B.6, its first part: the relaxed triangle inequality (22)."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SYMBOLS = (
    positive("a", "any positive number"),
    nonnegative("norm2_u", "squared norm of the first vector", FREE, latex="\\|u\\|^2"),
    nonnegative("norm2_v", "squared norm of the second vector", FREE, latex="\\|v\\|^2"),
)
a, norm2_u, norm2_v = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source(PAPER, "Lemma B.6", "Appendix B.4, (22)"),
    title="Squared norm of a sum of two vectors",
    symbols=SYMBOLS,
    metric=Metric.last("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors"),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(bound=(1 + a) * norm2_u + (1 + 1 / a) * norm2_v),
        "sharp": Reading(
            bound=(sp.sqrt(norm2_u) + sp.sqrt(norm2_v)) ** 2,
            replaces="the free number a by the best one, |v|/|u|",
            why="Then the right side is (|u| + |v|)^2, the least over all a, which two vectors of one direction "
            "attain. It needs no division where one of the vectors is 0.",
        ),
    },
)
