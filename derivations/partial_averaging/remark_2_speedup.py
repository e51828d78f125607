"""Remark 2 (partial model averaging): from how many iterations on 1/sqrt(m K) exceeds m/K.

t  any number of iterations, positive    threshold  where both are equal
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.rules import Supposing
from boundcheck.proof.step import Fact, Step

READINGS = ("as_printed",)

m, t, threshold = sp.symbols("m t threshold", real=True)
equal: Any = sp.Eq((threshold / m) ** 2, m * threshold)

FACTS = (
    Fact("t", t > 0, "range", "any number of iterations"),
    Fact(
        "threshold",
        sp.And(threshold > 0, equal),
        "metric",
        "where 1/sqrt(m K) = m/K, both sides inverted and squared",
    ),
)
SCOPE = ("t", "domain m")

STEPS = (
    Step(
        "enough",
        sp.Implies(t > m**3, 1 / sp.sqrt(m * t) > m / t),
        SCOPE,
        Supposing(Decide()),
        "beyond m^3 the first term is larger",
    ),
    Step(
        "needed",
        sp.Implies(1 / sp.sqrt(m * t) > m / t, t > m**3),
        SCOPE,
        Supposing(Decide()),
        "and not before",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    last = Step(
        "conclusion", sp.Eq(threshold, statement.bound), ("threshold", "domain m"), Decide(), "divided by the threshold"
    )
    return Derivation(
        statement, (*scope_facts(statement), *FACTS), (*STEPS, last), conclusion="conclusion", target=threshold
    )
