"""Lemma 1 of "Proof of Other Lemmas": the norm of a matrix times a vector, (65).

It is compared for matrices of two rows and columns; |A|^2 is the larger eigenvalue of A'A.
"""

from boundcheck.papers.partial_averaging.definitions import *
from boundcheck.theory.declare import *

OWN = (
    nonnegative("norm_A", "operator norm of the matrix", latex=r"\|A\|_{\mathrm{op}}"),
    nonnegative("norm2_b", "squared norm of the vector", FREE, r"\|b\|^2"),
)
operator_norm, norm2_b = (symbol.expr for symbol in OWN)
ENTRIES = (
    *(Symbol(f"a_{i}{j}", f"entry of the matrix in row {i}, column {j}", ONE) for i in (1, 2) for j in (1, 2)),
    *(Symbol(f"b_{i}", f"entry {i} of the vector", FREE.power(Fraction(1, 2))) for i in (1, 2)),
)
a_11, a_12, a_21, a_22, b_1, b_2 = (symbol.expr for symbol in ENTRIES)
squares = a_11**2 + a_12**2 + a_21**2 + a_22**2  # the sum of the eigenvalues of A'A
determinant = a_11 * a_22 - a_12 * a_21  # its square is their product

theorem = Theorem(
    source=Source(PAPER, "Other lemmas, Lemma 1", "Appendix B, (65)"),
    title="Squared norm of a matrix times a vector",
    symbols=(*OWN, *ENTRIES),
    metric=Metric.formula(
        FREE,
        (a_11 * b_1 + a_12 * b_2) ** 2 + (a_21 * b_1 + a_22 * b_2) ** 2,
        quantity="norm2_of_product",
        expectation="none: the lemma is about any matrix and vector",
        where={"norm_A": sp.sqrt((squares + sp.sqrt(squares**2 - 4 * determinant**2)) / 2), "norm2_b": b_1**2 + b_2**2},
    ),
    bound=operator_norm**2 * norm2_b,
    belief=Belief.TRUE,
    readings={
        "as_printed": Reading(
            remark="Squared on both sides. The printed hypotheses, a symmetric matrix and b not 0, are not needed."
        )
    },
)
