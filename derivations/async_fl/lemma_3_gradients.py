"""The proof of Lemma 3 (asynchronous federated learning, Appendix A.3, (62)), corrected, as checked steps.

The facts and steps are those of (61), `derivations/async_fl/lemma_3.py`, with its notation; the mean S_n of the squared
stochastic gradients is bounded on the way.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected",)

L, K, k, eta_l, q, tau, Qs, Z, sg1, phi, work = symbols("L K k eta_l q tau Qs Z sg1 phi work")
e = eta_l**2 * (K - 1)**2
D = 6 * e * L**2


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, work, squares=(Qs, Z, sg1), drawn=derivation_of("async_fl/lemma_3/corrected").drawn)
    p.take_facts("lemma_3/corrected")
    p.known("S", eq(work, total(norm2(vector("g", k)), k, K) / K), "mean over the local steps")
    p.take_steps("lemma_3/corrected")
    p.step("(61)", phi <= 4 * tau * Qs + 4 * D * Z / (L * q) + 12 * e * sg1,
        {"display": 1 / (K * (1 - D)), "work": 2 * e / (K * (1 - D))}, "phi",
        why="(70), divided by 1 - D, which is at least 1/2")
    p.step("S mean", work <= 3 * L**2 * phi + 6 * L * Z / q + 3 * sg1, {"work": 1 / K}, "S", "phi", why="divided by K")
    p.conclude(work <= 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1, {"S mean": 1, "(61)": 3 * L**2},
        "condition drift", why="12 D <= 6")
    return p.done()
