"""Appendix C: the iterates of FedAvg."""

from boundcheck.papers.scgd.definitions import *
from boundcheck.theory.declare import *

factor = (2 * concave + convex) / 3  # of one round

theorem = Theorem(
    source=Source(PAPER, "Appendix C", "the iterates of FedAvg"),
    title="x_K of FedAvg on the example with concave components",
    symbols=EXAMPLE,
    algorithm=Algorithm("fedavg", ("E", "eta")),
    metric=Metric.last("x", None, index=K),
    kind=Kind.EQUALITY,
    readings={
        "corrected": Reading(
            bound=factor**K * x_0, assumptions=AS_MEANT, belief=Belief.TRUE, replaces=MEANT, why=WHY_MEANT
        ),
        "as_printed": Reading(
            bound=sp.Rational(76, 75),
            source=Source(
                PAPER, "Appendix C", "the number printed after one round, with f_3 = 3x^3, eta = 1/10, E = 2, x_0 = 1"
            ),
            title="FedAvg after one round, as printed",
            metric=Metric.last("x", None, rounds=1),
            conditions=PRINTED_SETTING,
            assumptions=AS_PRINTED,
            belief=Belief.FALSE,
            remark="False for the printed f_3; true for f_3 = 3x^2.",
        ),
    },
)
