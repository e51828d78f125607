"""The proof of Lemma 3 (asynchronous federated learning, Appendix A.3, (62)), corrected, as checked steps.

The facts and steps are those of (61), `derivations/async_fl/lemma_3.py`, with its notation; the mean S_n of the squared
stochastic gradients is bounded on the way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.gram import Combine
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.sums import total
from boundcheck.proof.vectors import norm2, vector

READINGS = ("corrected",)

L, K, k, q, tau, Qs, Z, sg1, phi, work = sp.symbols("L K k q tau Qs Z sg1 phi work", real=True)
SIZES = tuple(f"domain {name}" for name in ("L", "K", "eta_l", "tau", "q", "Qs", "Z", "sg1"))


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    general = derivation_of("async_fl/lemma_3/corrected")
    facts = [fact for fact in general.facts if fact.kind not in ("domain", "condition")]
    distance = next(step for step in general.steps if step.name == general.conclusion)
    mean = Fact("S", sp.Eq(work, total(norm2(vector("g", k)), k, K) / K), "metric", "mean over the local steps")
    steps = (
        *(replace(s, name="(61)") if s is distance else s for s in general.steps),
        Step(
            "S mean",
            sp.Le(work, 3 * L**2 * phi + 6 * L * Z / q + 3 * sg1),
            ("work", "S", "phi", "domain q", "domain K"),
            Combine({"work": 1 / K}),
            "divided by K",
        ),
        Step(
            "conclusion",
            sp.Le(work, 12 * L**2 * tau * Qs + 12 * L * Z / q + 6 * sg1),
            ("S mean", "(61)", "condition drift", *SIZES),
            Combine({"S mean": 1, "(61)": 3 * L**2}),
            "12 D <= 6",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *facts, mean),
        steps,
        conclusion="conclusion",
        target=work,
        quantities=general.quantities,
        drawn=general.drawn,
    )
