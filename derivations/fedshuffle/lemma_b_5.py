"""The proof of Lemma B.5 (FedShuffle, Appendix B.3): the variance of a mean of vectors drawn without replacement.

<u, v> is the expectation of the inner product over the order in which the vectors are drawn. By induction over the
number of vectors drawn, in place of the sum over all pairs.

    z(a)  vector drawn as number a, counted from 0, minus the mean of all n    p(a)  z(0) + ... + z(a-1)
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Induction, Supposing
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import Vector, VectorEquality, inner, norm2, vector

READINGS = ("as_printed", "corrected")

n, k, sigma2, a, variance = sp.symbols("n k sigma2 a variance", real=True)
z, p = vector("z", a), vector("p", a)

DRAWN = ((p, a), (z, a + 1))
FACTS = (
    Fact("index a", sp.And(a >= 0, a <= n - 1), "index", "number of vectors drawn before"),
    Fact("variance", sp.Eq(variance, norm2(p.at(a, k)) / k**2), "metric", "of the mean of k vectors"),
    Fact("nothing drawn", VectorEquality(p.at(a, 0), Vector(())), "algorithm", "an empty sum"),
    Fact("next", VectorEquality(p.at(a, a + 1), p + z), "algorithm", "one more vector is drawn"),
    Fact(
        "without replacement",
        sp.Eq(inner(p, z) * (n - a), -norm2(p)),
        "algorithm",
        "the next vector is uniform among the n - a that are left, whose deviations sum to minus p",
    ),
    Fact("spread", sp.Eq(norm2(z), sigma2), "algorithm", "each vector that is drawn is uniform among all n"),
)


ALONE = Fact("one vector", norm2(z) * (2 - n) <= 0, "algorithm", "a single vector is its own mean")


def drawn(number: Any, others: Any) -> Any:
    """The squared norm of the sum of so many deviations, as a claim."""
    return sp.Eq(norm2(p.at(a, number)), number * (n - number) / others * sigma2, evaluate=False)


def steps(others: Any, alone: tuple[str, ...]) -> tuple[Step, ...]:
    """The chain with this expression for n - 1, and the facts that it needs where that is not n - 1."""
    return (
        Step("0", drawn(sp.Integer(0), others), ("nothing drawn", "domain n"), Identity(), "nothing drawn"),
        Step(
            "1",
            sp.Eq(norm2(p.at(a, a + 1)), norm2(p) + 2 * inner(p, z) + norm2(z)),
            ("next",),
            Identity(),
            "the square expanded",
        ),
        Step(
            "2",
            sp.Implies(drawn(a, others), drawn(a + 1, others)),
            ("1", "without replacement", "spread", "index a", "domain n", *alone),
            Supposing(Decide()),
            "the covariance of two vectors drawn is -sigma^2/(n - 1)",
        ),
        Step(
            "3",
            drawn(k, others),
            ("0", "2", "domain k", "domain 1", "domain n"),
            Induction("0", "2", a, k),
            "for any number",
        ),
        Step(
            "conclusion",
            sp.Eq(variance, (n - k) / (k * others) * sigma2),
            ("3", "variance", "domain k", "domain n"),
            Decide(),
            "over k^2",
        ),
    )


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    facts = (*scope_facts(statement), *FACTS)
    if statement.reading == "as_printed":
        return Derivation(statement, facts, steps(n - 1, ()), conclusion="conclusion", target=variance, drawn=DRAWN)
    chain = steps(sp.Max(1, n - 1), ("one vector", "domain sigma2"))
    return Derivation(statement, (*facts, ALONE), chain, conclusion="conclusion", target=variance, drawn=DRAWN)
