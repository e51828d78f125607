"""Equation (12): what P_(0,k) makes of the first number of the first block, in the example with two workers."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

OWN = (
    Symbol("x_00", "first number of block 0 of worker 0", LENGTH, latex=r"x^{(0,0)}"),
    Symbol("x_10", "first number of block 0 of worker 1", LENGTH, latex=r"x^{(1,0)}"),
)
x_00, x_10 = (symbol.expr for symbol in OWN)
x_01, x_11 = sp.symbols("x_01 x_11", real=True)  # the second numbers of the block
# P_(0,k): the mean of two workers, number by number
AVERAGING: Any = sp.kronecker_product(sp.ones(2, 2) / 2, sp.eye(2))

theorem = Theorem(
    source=Source(PAPER, "equation (12)", "Appendix A"),
    title="The first number of both workers' block 0 after it was averaged",
    symbols=OWN,
    metric=Metric.formula(LENGTH, (AVERAGING * sp.Matrix([x_00, x_01, x_10, x_11]))[0]),
    kind=Kind.EQUALITY,
    bound=(x_00 + x_10) / 2,
    belief=Belief.TRUE,
    readings={"as_printed": Reading(remark="The second number, x_01 and x_11, likewise.")},
)
