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

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected, variance_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.laws import Order
from boundcheck.proof.rules import SumOver
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed", "uniform")

weighted_squares, variance, d, j = sp.symbols("weighted_squares variance d j", real=True)
V: Any = sp.Function("V", real=True)
q: Any = sp.Function("q", real=True)

FACTS = (
    Fact("coordinates", d >= 1, "count", "dimension of the vectors"),
    Fact("index j", sp.And(j >= 0, j <= d - 1), "index", "coordinates"),
    Fact("variance", sp.Eq(variance, total(V(j), j, d)), "metric", "the squared norm is the sum over the coordinates"),
    Fact("squares", sp.Eq(weighted_squares, total(q(j), j, d)), "metric", "likewise"),
    Fact(
        "cohort",
        sp.Le(V(j), q(j)),
        "assumption",
        "(18) for the numbers a_ij: V(j) is their form with the matrix P - p p^T",
        "cohort_variance",
    ),
)

STEPS = (
    Step(
        "1", sp.Le(total(V(j), j, d), total(q(j), j, d)), ("cohort", "coordinates"), SumOver("cohort", j, d), "summed"
    ),
    Step(
        "conclusion", sp.Le(variance, weighted_squares), ("1", "variance", "squares"), Combine(), "in the lemma's words"
    ),
)


n, b, squares, norm2_sum, a, i = sp.symbols("n b squares norm2_sum a i", real=True)
u, x = vector("u", i), vector("x", a)
ORDER = Order("order", "uniform_cohort", ((x, u),), (u,), n)

UNIFORM = (
    variance_of("variance", variance, vector_total(x, a, b) * (n / b), ORDER),
    Fact("squares", sp.Eq(squares, total(norm2(u), i, n)), "metric", "sum of the squared norms"),
    Fact("sum", sp.Eq(norm2_sum, norm2(vector_total(u, i, n))), "metric", "squared norm of the sum"),
)

EXACT = (
    Step(
        "conclusion",
        sp.Eq(variance, (n - b) / (b * sp.Max(1, n - 1)) * (n * squares - norm2_sum)),
        ("variance", "squares", "sum", "domain b", "domain 1", "domain n"),
        Expected(("order",)),
        "Lemma B.5 for n times the mean of b of the w_i z_i",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    if statement.reading == "uniform":
        facts = (*scope_facts(statement), *UNIFORM)
        return Derivation(statement, facts, EXACT, "conclusion", variance, laws=(ORDER,))
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, "conclusion", variance)
