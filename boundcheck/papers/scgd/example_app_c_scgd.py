"""Appendix C: the iterates of SCGD."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

factor = concave**2 * convex  # of one cycle

theorem = Theorem(
    source=Source(PAPER, "Appendix C", "the iterates of SCGD"),
    title="x_K of SCGD on the example with concave components",
    symbols=EXAMPLE,
    algorithm=Algorithm("scgd", ("E", "eta")),
    metric=Metric.last("x", None, index=K, rounds=3 * K),
    kind=Kind.EQUALITY,
    readings={
        "corrected": Reading(
            bound=factor**K * x_0, assumptions=AS_MEANT, belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT
        ),
        "as_printed": Reading(
            bound=sp.Rational(331776, 10**6),
            source=Source(
                PAPER, "Appendix C", "the number printed after one cycle, with f_3 = 3x^3, eta = 1/10, E = 2, x_0 = 1"
            ),
            title="SCGD after one cycle, as printed",
            metric=Metric.last("x", None, rounds=3),
            conditions=PRINTED_SETTING,
            assumptions=AS_PRINTED,
            belief=Belief.FALSE,
            remark="False for the printed f_3; true for f_3 = 3x^2.",
        ),
    },
)
