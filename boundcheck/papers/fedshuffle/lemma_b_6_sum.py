"""Lemma B.6, its second part: the squared norm of a sum of any number of vectors (23)."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

SYMBOLS = (
    count("tau", "number of vectors", latex="\\tau"),
    nonnegative("squares", "sum of the squared norms of the vectors", FREE, latex="(\\sum_i \\|w_i z_i\\|^2)"),
    nonnegative(
        "spread",
        "sum of the squared distances of the vectors to their mean",
        FREE,
        latex="(\\sum_i \\|v_i-\\bar{v}\\|^2)",
    ),
)
tau, squares, spread = (symbol.expr for symbol in SYMBOLS)

theorem = Theorem(
    source=Source(PAPER, "Lemma B.6", "Appendix B.4, (23)"),
    title="Squared norm of a sum of vectors",
    symbols=SYMBOLS,
    metric=Metric.last("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors"),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(bound=tau * squares),
        "sharp": Reading(
            bound=tau * (squares - spread),
            kind=Kind.EQUALITY,
            domain=(spread <= squares,),
            replaces="the inequality by the equation that it is one side of",
            why="What the printed bound gives away is tau times the squared distances of the vectors to their mean, so "
            "that it is attained by equal vectors only.",
        ),
    },
)
