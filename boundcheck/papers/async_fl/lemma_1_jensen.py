"""The remark after Lemma 1, (55): a lower bound of the cross terms, said to follow from Jensen's inequality."""

from __future__ import annotations

import sympy as sp

from boundcheck.papers.async_fl.definitions import PAPER, nonnegative, share
from boundcheck.theory.dimension import FREE
from boundcheck.theory.statement import Belief, Kind, Metric, Source
from boundcheck.theory.theorem import Reading, Theorem

together, single, qt_max = sp.symbols("together single qt_max", real=True)

theorem = Theorem(
    source=Source(PAPER, "Lemma 1, remark", "Appendix A.3, (55)"),
    title="Lower bound of the sum over different clients of <q_i x_i, q_j x_j>",
    symbols=(
        nonnegative("together", "|sum of q_i x_i|^2", FREE),
        nonnegative("single", "sum of q_i^2 |x_i|^2", FREE),
        share("qt_max", "largest normalised expected weight q_i(n)/q(n) of the round"),
    ),
    metric=Metric("none", FREE),
    kind=Kind.FORMULA,
    readings={
        "corrected": Reading(
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
