"""The proof of Lemma B.5 (FedShuffle, Appendix B.3): the variance of a mean of vectors drawn without replacement.

u(i)  the n vectors                 x(a)  the vector drawn as number a, counted from 0
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.drawing import Expected, variance_of
from boundcheck.proof.laws import Order
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed", "corrected")

n, k, sigma2, a, i, variance = sp.symbols("n k sigma2 a i variance", real=True)
u, x = vector("u", i), vector("x", a)
mean = vector_total(u, i, n) / n
ORDER = Order("order", "without_replacement", ((x, u),), (u,), n)

FACTS = (
    variance_of("variance", variance, vector_total(x, a, k) / k, ORDER),
    Fact("spread", sp.Eq(sigma2, total(norm2(u - mean), i, n) / n), "metric", "mean squared distance to the mean"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    others = n - 1 if statement.reading == "as_printed" else sp.Max(1, n - 1)
    exact = sp.Eq(variance, (n - k) / (k * others) * sigma2, evaluate=False)
    facts = ("variance", "spread", "domain k", "domain 1", "domain n")
    step = Step("conclusion", exact, facts, Expected(("order",)), "the covariance of two of them is -sigma^2/(n - 1)")
    return Derivation(statement, (*scope_facts(statement), *FACTS), (step,), "conclusion", variance, laws=(ORDER,))
