"""The proof of Lemma E.5 (FedShuffle, Appendix E): a matrix inequality taken coordinate by coordinate.

Assumption (33) is about all vectors of one number a client. It is used for coordinate j of the a_i = w_i z_i/q_i,
and summed over the coordinates; no product of matrices is needed.

    V(j)  variance of coordinate j of what the cohort adds up        q(j)  sum over the clients of h_i s_i a_ij^2
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total

READINGS = ("corrected",)

weighted_squares, variance, d, j = symbols("weighted_squares variance d j")
V, q = functions("V q")


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, variance)
    p.count("coordinates", d >= 1, "dimension of the vectors")
    p.index(j, d, "coordinates")
    p.known("variance", eq(variance, total(V(j), j, d)), "the squared norm is the sum over the coordinates")
    p.known("squares", eq(weighted_squares, total(q(j), j, d)), "likewise")
    p.assume("cohort", "cohort_normaliser_variance", V(j) <= q(j),
        "(33) for the numbers a_ij: V(j) is their form with the matrix H - e e^T")
    p.sum_over("1", total(V(j), j, d) <= total(q(j), j, d), "cohort", j, d, why="summed")
    p.conclude(variance <= weighted_squares, "1", "variance", "squares", why="in the lemma's words")
    return p.done()
