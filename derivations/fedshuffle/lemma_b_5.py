"""The proof of Lemma B.5 (FedShuffle, Appendix B.3): the variance of a mean of vectors drawn without replacement.

u(i)  the n vectors                 x(a)  the vector drawn as number a, counted from 0
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.laws import Order
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total, vector_total
from boundcheck.proof.transcribed import variance_of
from boundcheck.proof.vectors import norm2, vector

READINGS = ("as_printed", "corrected")

n, k, sigma2, a, i, variance = symbols("n k sigma2 a i variance")
u, x = vector("u", i), vector("x", a)
order = Order("order", "without_replacement", ((x, u),), (u,), n)


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, variance, laws=(order,))
    p.add(variance_of("variance", variance, vector_total(x, a, k) / k, order))
    p.known("spread", eq(sigma2, total(norm2(u - vector_total(u, i, n) / n), i, n) / n),
        "mean squared distance to the mean")
    others = n - 1 if p.reading == "as_printed" else sp.Max(1, n - 1)
    p.expected("conclusion", eq(variance, (n - k) / (k * others) * sigma2), "order", "variance", "spread",
        why="the covariance of two of them is -sigma^2/(n - 1)")
    p.ends_with("conclusion")
    return p.done()
