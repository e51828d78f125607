"""Lemma B.6: the squared norm of a sum of two vectors (22), and of any number of them (23)."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

TWO = (
    positive("a", "any positive number"),
    nonnegative("norm2_u", "squared norm of the first vector", FREE, r"\|u\|^2"),
    nonnegative("norm2_v", "squared norm of the second vector", FREE, r"\|v\|^2"),
)
a, norm2_u, norm2_v = (symbol.expr for symbol in TWO)
ANY_NUMBER = (
    count("tau", "number of vectors", latex=r"\tau"),
    nonnegative("squares", "sum of the squared norms of the vectors", FREE, r"(\sum_i \|w_i z_i\|^2)"),
    nonnegative("spread", "sum of the squared distances of the vectors to their mean", FREE,
                r"(\sum_i \|v_i-\bar{v}\|^2)"),
)  # fmt: skip
tau, squares, spread = (symbol.expr for symbol in ANY_NUMBER)
NORM2 = Metric.last("norm2_of_sum", FREE, expectation="none: the lemma is about any vectors")

theorems = {
    "lemma_b_6": Theorem(
        source=Source(PAPER, "Lemma B.6", "Appendix B.4, (22)"),
        title="Squared norm of a sum of two vectors",
        symbols=TWO,
        metric=NORM2,
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
    ),
    "lemma_b_6_sum": Theorem(
        source=Source(PAPER, "Lemma B.6", "Appendix B.4, (23)"),
        title="Squared norm of a sum of vectors",
        symbols=ANY_NUMBER,
        metric=NORM2,
        belief=Belief.TRUE,
        best="as_printed",
        readings={
            "as_printed": Reading(bound=tau * squares),
            "sharp": Reading(
                bound=tau * (squares - spread),
                kind=Kind.EQUALITY,
                domain=(spread <= squares,),
                replaces="the inequality by the equation that it is one side of",
                why="What the printed bound gives away is tau times the squared distances of the vectors to their "
                "mean, so that it is attained by equal vectors only.",
            ),
        },
    ),
}
