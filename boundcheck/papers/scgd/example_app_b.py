"""Appendix B: a strongly quasi-convex function that is not convex.

F is -1/4 up to x = 1/2, where its minimisers end, x^2 - x up to 1, log x up to 3/2, and 2/9 x^2 + log(3/2) - 1/2 then.
"""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

POINT = Symbol("x", "a point on one of the last two pieces", ONE, low=Fraction(1))
x = POINT.expr

# the pieces as functions of x up to and from 3/2, each at the end of its own range elsewhere
early, late = sp.Min(x, sp.Rational(3, 2)), sp.Max(x, sp.Rational(3, 2))
F = sp.log(early) + sp.Rational(2, 9) * late**2 - sp.Rational(1, 2)
slope = 1 / early + sp.Rational(4, 9) * late - sp.Rational(2, 3)

theorem = Theorem(
    source=Source(PAPER, "Appendix B", "the function of equation (6)"),
    title="The largest strong quasi-convexity constant of the example",
    symbols=(POINT,),
    # the largest mu for which F(1/2) - F(x) >= F'(x) (1/2 - x) + mu/2 (x - 1/2)^2 at x
    metric=Metric.formula(
        None, 2 * (slope * (x - sp.Rational(1, 2)) - F - sp.Rational(1, 4)) / (x - sp.Rational(1, 2)) ** 2
    ),
    kind=Kind.LOWER_BOUND,
    bound=sp.Rational(5, 6) - sp.log(sp.Rational(9, 4)),
    readings={
        "as_printed": Reading(
            belief=Belief.TRUE,
            remark="The least over x of the largest mu at x, which is 2 on the second piece; attained at x = 3/2, "
            "where the third meets the fourth.",
        )
    },
)
