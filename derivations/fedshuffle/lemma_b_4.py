"""The proof of Lemma B.4 (FedShuffle, Appendix B.3): a matrix inequality taken coordinate by coordinate.

Assumption (18) is about all vectors of one number a client. It is used for coordinate j of the a_i = w_i z_i/p_i,
and summed over the coordinates; no product of matrices is needed.

    V(j)  variance of coordinate j of what the cohort adds up        q(j)  sum over the clients of p_i s_i a_ij^2

For b of n clients drawn uniformly the variance itself; the b clients are the first of a random order, and p_i = b/n.

    u(i)  w_i z_i of client i, counted from 0                 x(a)  u of the client drawn as number a
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.laws import Order
from boundcheck.proof.proof import Proof, eq, functions, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.transcribed import variance_of
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed", "uniform")

weighted_squares, variance, d, j = symbols("weighted_squares variance d j")
n, b, squares, norm2_sum, a, i = symbols("n b squares norm2_sum a i")
V, q = functions("V q")
u, x = vector("u", i), vector("x", a)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    if statement.reading == "uniform":
        return uniform(statement)
    p = Proof(statement, variance)
    p.count("coordinates", d >= 1, "dimension of the vectors")
    p.index(j, d, "coordinates")
    p.known("variance", eq(variance, total(V(j), j, d)), "the squared norm is the sum over the coordinates")
    p.known("squares", eq(weighted_squares, total(q(j), j, d)), "likewise")
    p.assume("cohort", "cohort_variance", V(j) <= q(j),
        "(18) for the numbers a_ij: V(j) is their form with the matrix P - p p^T")
    p.sum_over("1", total(V(j), j, d) <= total(q(j), j, d), "cohort", j, d, why="summed")
    p.conclude(variance <= weighted_squares, "1", "variance", "squares", why="in the lemma's words")
    return p.done()


def uniform(statement: Any) -> Any:
    """For b of n clients drawn uniformly."""
    order = Order("order", "uniform_cohort", ((x, u),), (u,), n)
    p = Proof(statement, variance, laws=(order,))
    p.add(variance_of("variance", variance, vector_total(x, a, b) * (n / b), order))
    p.known("squares", eq(squares, total(norm2(u), i, n)), "sum of the squared norms")
    p.known("sum", eq(norm2_sum, norm2(vector_total(u, i, n))), "squared norm of the sum")
    p.expected("conclusion", eq(variance, (n - b) / (b * sp.Max(1, n - 1)) * (n * squares - norm2_sum)), "order",
        "variance", "squares", "sum", why="Lemma B.5 for n times the mean of b of the w_i z_i")
    p.ends_with("conclusion")
    return p.done()
