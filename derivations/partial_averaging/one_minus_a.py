"""The last step of the proof of Theorem 2 (partial model averaging, Appendix C): 1/(1 - A) under its step condition.

The printed rounding of 1 + 1/(2 beta^2) to 2/3 is refuted; 3/2 is what the theorem's constants 3 and 6 come from.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "sharp", "as_printed")

A, beta2, inverse = sp.symbols("A beta2 inverse", real=True)

FACTS = (Fact("inverse", sp.Eq(inverse * (1 - A), 1), "metric", "inverse is 1/(1 - A)"),)
SCOPE = ("condition A not negative", "condition A small", "domain beta2")

STEPS = (
    Step("A < 1", A < 1, SCOPE, Decide(), "the proof divides by 1 - A"),
    Step("half", A * beta2 / (1 - A) <= sp.Rational(1, 2), (*SCOPE, "A < 1"), Decide(), "moved to the left side"),
    Step(
        "before rounding",
        sp.Le(inverse, 1 + 1 / (2 * beta2)),
        ("inverse", "half", "A < 1", "domain beta2"),
        Decide(),
        "1/(1 - A) = 1 + A/(1 - A)",
    ),
    Step("1/2", 1 / (2 * beta2) <= sp.Rational(1, 2), ("domain beta2",), Decide(), "beta^2 >= 1; 2/3 is printed"),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    steps = STEPS[:3]
    if statement.reading != "sharp":
        rounding = Step(
            "conclusion",
            sp.Le(inverse, statement.bound),
            ("before rounding", "1/2", "inverse", *SCOPE),
            Decide(),
            "rounded",
        )
        steps = (*STEPS, rounding)
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, conclusion=steps[-1].name, target=inverse)
