"""Lemma 2 of "Proof of Other Lemmas": the deviation from the average is no longer than the vector, (67).

It is compared for three workers and blocks of one number.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

OWN = (
    nonnegative("norm2_x", "squared norm of the m stacked blocks", FREE, r"\|x\|^2"),
    nonnegative("norm2_mean", "squared norm of their mean", FREE, r"\|\bar x\|^2"),
)
norm2_x, norm2_mean = (symbol.expr for symbol in OWN)
BLOCKS = tuple(Symbol(f"x_{i}", f"block of worker {i}, a number", FREE.power(Fraction(1, 2))) for i in (1, 2, 3))
blocks = [symbol.expr for symbol in BLOCKS]
mean = sum(blocks) / 3

theorem = Theorem(
    source=Source(PAPER, "Other lemmas, Lemma 2", "Appendix B, (67)"),
    title="Squared norm of the blocks' deviation from their mean",
    symbols=(*NOTATION, *OWN, *BLOCKS),
    metric=Metric.formula(
        FREE,
        sum((x - mean) ** 2 for x in blocks),
        quantity="norm2_of_deviation",
        expectation="none: the lemma is about any vector",
        where={"m": sp.Integer(3), "norm2_x": sum(x**2 for x in blocks), "norm2_mean": mean**2},
    ),
    belief=Belief.TRUE,
    best="as_printed",
    readings={
        "as_printed": Reading(
            bound=norm2_x,
            remark="J_j projects orthogonally on d_j dimensions. The proof's 'only two different columns' and diag(1, "
            "1, 0, ...) are those of its example with d_j = 2.",
        ),
        "sharp": Reading(
            kind=Kind.EQUALITY,
            bound=norm2_x - m * norm2_mean,
            replaces="the bound by the value",
            why="I - J_j is an orthogonal projector, and J_j x is the mean m times over.",
        ),
    },
)
