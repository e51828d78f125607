"""The end of the proof of Theorem 2: what the step condition makes of 1/(1 - A)."""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

OWN = Symbol("A", "A = 2 eta^2 tau (tau - 1) L^2", ONE)
A = OWN.expr

theorem = Theorem(
    source=Source(PAPER, "Theorem 2", "Appendix C, the last step of the proof"),
    title="1/(1 - A) under the step condition of Theorem 2",
    symbols=(*NOTATION, OWN),
    metric=Metric.last("inverse_of_1_minus_A", ONE, expectation="none: the step is about numbers"),
    conditions=(
        Condition("A not negative", A >= 0, "a product of such"),
        Condition("A small", sp.Le(A, 1 / (2 * beta2 + 1)), "the step condition of Theorem 2"),
    ),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=sp.Rational(3, 2),
            replaces="2/3 by 3/2",
            why="A/(1 - A) <= 1/(2 beta^2) <= 1/2. The theorem's constants 3 and 6 are twice and four times 3/2.",
        ),
        "sharp": Reading(
            bound=1 + 1 / (2 * beta2),
            replaces="2/3 by 1 + 1/(2 beta^2)",
            why="This is the inequality before the rounding; it is attained at the largest A.",
        ),
        "as_printed": Reading(
            bound=sp.Rational(2, 3), belief=Belief.FALSE, remark="1/(1 - A) is at least 1; 2/3 is 3/2 turned over."
        ),
    },
)
