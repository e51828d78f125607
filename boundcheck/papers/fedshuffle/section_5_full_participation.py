"""Section 5: M of b of n clients drawn uniformly, and why the first term vanishes if each client takes part."""

from boundcheck.papers.fedshuffle.definitions import *
from boundcheck.theory.declare import *

CLIENTS = common.n.but(meaning="number of clients", low=Fraction(1))
COHORT = count("b", "clients in a round", key="participation/b")
LARGEST = positive("w_max", "the largest weight of a client", high=Fraction(1), key="clients/w_max")
n, b, w_max = CLIENTS.expr, COHORT.expr, LARGEST.expr

theorem = Theorem(
    source=Source(PAPER, "Section 5", "the remarks after Theorem 5.1, with s_i of uniform sampling from Section 3"),
    title="M of b of n clients drawn uniformly",
    symbols=(CLIENTS, COHORT, LARGEST),
    metric=Metric.constant("participation/M", ONE, "the participation"),
    kind=Kind.EQUALITY,
    domain=(b <= n,),
    assumptions=(Assumption("uniform_participation", "b of the n clients are drawn, all subsets alike."),),
    belief=Belief.TRUE,
    readings={
        "corrected": Reading(
            bound=(n - b) / sp.Max(1, n - 1) * n / b * w_max,
            replaces="n - 1 by max(1, n - 1)",
            why="A single client always takes part, and s_i = (n - b)/(n - 1) is 0/0 for it.",
            remark="0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of its root.",
        ),
        "as_printed": Reading(
            symbols=(CLIENTS.but(low=Fraction(2)),),
            bound=(n - b) / (n - 1) * n / b * w_max,
            remark="Two clients or more. 0 exactly when b = n; the first term of Theorem 5.1 is a multiple of M or of "
            "its root.",
        ),
    },
)
