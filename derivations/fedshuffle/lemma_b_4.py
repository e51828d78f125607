"""The proof of Lemma B.4 (FedShuffle, Appendix B.3): a matrix inequality taken coordinate by coordinate.

Assumption (18) is about all vectors of one number a client. It is used for coordinate j of the a_i = w_i z_i/p_i,
and summed over the coordinates; no product of matrices is needed.

    V(j)  variance of coordinate j of what the cohort adds up        q(j)  sum over the clients of p_i s_i a_ij^2

For b of n clients drawn uniformly the variance itself, by Lemma B.5 for the w_i z_i (proved anew, since only upper
bounds are cited); <u, v> is then the expectation of the inner product over the order in which the clients are drawn.

    u(i)  w_i z_i of client i, counted from 0                 mean  of all u(i)
    z(a)  u of the client drawn as number a, minus the mean   p(a)  z(0) + ... + z(a-1)
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Induction, SumOver, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

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


n, b, squares, norm2_sum, a, i, spread = sp.symbols("n b squares norm2_sum a i spread", real=True)
u, mean, z, p = vector("u", i), vector("mean"), vector("z", a), vector("p", a)
DRAWN = ((u, 0), (p, a), (z, a + 1))
others = sp.Max(1, n - 1)

UNIFORM = (
    Fact("index i", sp.And(i >= 0, i <= n - 1), "index", "clients"),
    Fact("index a", sp.And(a >= 0, a <= n - 1), "index", "number of clients drawn before"),
    Fact("variance", sp.Eq(variance, n**2 / b**2 * norm2(p.at(a, b))), "metric", "every p_i is b/n"),
    Fact("squares", sp.Eq(squares, total(norm2(u), i, n)), "metric", "sum of the squared norms"),
    Fact("sum", sp.Eq(norm2_sum, norm2(vector_total(u, i, n))), "metric", "squared norm of the sum"),
    Fact("mean", VectorEquality(mean, vector_total(u, i, n) / n), "definition", "over the clients"),
    Fact(
        "deviations",
        sp.Eq(total(inner(u - mean, mean), i, n), 0),
        "metric",
        "the differences to the mean add up to 0",
    ),
    Fact("spread", sp.Eq(spread, total(norm2(u - mean), i, n) / n), "definition", "squared distances to the mean"),
    Fact("nothing drawn", VectorEquality(p.at(a, 0), Vector(())), "algorithm", "an empty sum"),
    Fact("next", VectorEquality(p.at(a, a + 1), p + z), "algorithm", "one more client is drawn"),
    Fact(
        "without replacement",
        sp.Eq(inner(p, z) * (n - a), -norm2(p)),
        "algorithm",
        "the next client is uniform among the n - a that are left, whose deviations sum to minus p",
    ),
    Fact("drawn", sp.Eq(norm2(z), spread), "algorithm", "each client that is drawn is uniform among all n"),
    Fact("one client", norm2(z) * (2 - n) <= 0, "algorithm", "a single client is its own mean"),
)


def drawn(number: Any) -> Any:
    """The squared norm of the sum of so many deviations, as a claim."""
    return sp.Eq(norm2(p.at(a, number)), number * (n - number) / others * spread, evaluate=False)


EXACT = (
    Step("0", drawn(sp.Integer(0)), ("nothing drawn", "domain n"), Identity(), "nothing drawn"),
    Step(
        "1",
        sp.Eq(norm2(p.at(a, a + 1)), norm2(p) + 2 * inner(p, z) + norm2(z)),
        ("next",),
        Identity(),
        "the square expanded",
    ),
    Step("2.1", sp.Ge(norm2(z), 0, evaluate=False), (), Combine(), "a squared norm"),
    Step(
        "2",
        sp.Implies(drawn(a), drawn(a + 1)),
        ("1", "2.1", "without replacement", "drawn", "one client", "index a", "domain n"),
        Supposing(Decide()),
        "one more client",
    ),
    Step("3", drawn(b), ("0", "2", "domain b", "domain 1", "domain n"), Induction("0", "2", a, b), "for any number"),
    Step("4.1", sp.Eq(norm2_sum, n**2 * norm2(mean)), ("sum", "mean", "domain n"), Identity(), "n times the mean"),
    Step(
        "4",
        sp.Eq(n**2 * spread, n * squares - norm2_sum),
        ("4.1", "deviations", "squares", "spread", "domain n"),
        Identity(),
        "the squared distances expanded",
    ),
    Step(
        "conclusion",
        sp.Eq(variance, (n - b) / (b * others) * (n * squares - norm2_sum)),
        ("3", "4", "variance", "domain b", "domain n"),
        Decide(),
        "times n^2/b^2",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts, steps = (UNIFORM, EXACT) if statement.reading == "uniform" else (FACTS, STEPS)
    return Derivation(statement, (*scope_facts(statement), *facts), steps, "conclusion", variance, drawn=DRAWN)
