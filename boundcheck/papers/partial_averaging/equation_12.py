"""Equation (12): what P_(0,k) makes of the first number of the first block, in the example with two workers."""

from __future__ import annotations

from boundcheck.papers.partial_averaging._shared import PAPER
from boundcheck.theory.dimension import LENGTH
from boundcheck.theory.statement import Belief, Kind, Metric, Source, Statement
from boundcheck.theory.symbols import Symbol

_X = Symbol("x_00", "first number of block 0 of worker 0", LENGTH, latex=r"x^{(0,0)}")
_Y = Symbol("x_10", "first number of block 0 of worker 1", LENGTH, latex=r"x^{(1,0)}")

BEST = "as_printed"

STATEMENTS = (
    Statement(
        source=Source(PAPER, "equation (12)", "Appendix A"),
        reading="as_printed",
        title="The first number of both workers' block 0 after it was averaged",
        symbols=(_X, _Y),
        metric=Metric("none", LENGTH),
        bound=(_X.expr + _Y.expr) / 2,
        kind=Kind.FORMULA,
        belief=Belief.TRUE,
        remark="The second number, x_01 and x_11, likewise.",
    ),
)
