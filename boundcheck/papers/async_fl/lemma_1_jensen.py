"""The remark after Lemma 1, (55): a lower bound of the cross terms, said to follow from Jensen's inequality."""

from boundcheck.papers.async_fl.definitions import *
from boundcheck.theory.declare import *

ROOT = FREE.power(Fraction(1, 2))
together, single, qt_max = sp.symbols("together single qt_max", real=True)
q_1, q_2, x_1, x_2 = sp.symbols("q_1 q_2 x_1 x_2", real=True)

theorem = Theorem(
    source=Source(PAPER, "Lemma 1, remark", "Appendix A.3, (55)"),
    title="Lower bound of the sum over different clients of <q_i x_i, q_j x_j>",
    symbols=(
        nonnegative("together", "|sum of q_i x_i|^2", FREE, latex=r"\|\sum_i q_i x_i\|^2"),
        nonnegative("single", "sum of q_i^2 |x_i|^2", FREE, latex=r"(\sum_i q_i^2\|x_i\|^2)"),
        share("qt_max", "largest normalised expected weight q_i(n)/q(n) of the round", latex=r"\tilde{q}_{\max}"),
        positive("q_1", "expected weight of client 1"),
        positive("q_2", "expected weight of client 2"),
        Symbol("x_1", "vector of client 1, a number", ROOT),
        Symbol("x_2", "vector of client 2, a number", ROOT),
    ),
    metric=Metric.formula(
        FREE,
        2 * q_1 * x_1 * q_2 * x_2,
        where={
            "together": (q_1 * x_1 + q_2 * x_2) ** 2,
            "single": (q_1 * x_1) ** 2 + (q_2 * x_2) ** 2,
            "qt_max": sp.Max(q_1, q_2) / (q_1 + q_2),
        },
    ),
    kind=Kind.LOWER_BOUND,
    readings={
        "corrected": Reading(
            kind=Kind.EQUALITY,
            bound=together - single,
            belief=Belief.TRUE,
            replaces="the bound by (54) itself",
            why="Jensen bounds |sum of q_i x_i|^2 by q(n) sum of q_i |x_i|^2, the other way round. For x_1 = -x_2 and "
            "q = (1/2, 1/2) the cross terms are -|x_1|^2/2.",
        ),
        "as_printed": Reading(
            bound=(1 - qt_max) * together,
            belief=Belief.FALSE,
            remark="The cross terms can be negative; the remark is used nowhere.",
        ),
    },
)
