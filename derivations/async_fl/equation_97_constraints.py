"""From (97) to the constraints of Appendix A.5 (asynchronous federated learning): the scalar implications, one by one.

    w  (eta_l (K - 1) L)^2, so that D = 6 w    s  step times L    t  (h tau L)^2    worst  the largest left side

The step is eta_g eta_l as printed, K eta_g eta_l in the corrected reading.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected", "as_printed")

L, K, eta_l, eta_g, rho, alpha, beta, tau = sp.symbols("L K eta_l eta_g rho alpha beta tau", real=True)
w, s, t, worst = sp.symbols("w s t worst", real=True)

WORK = ("domain K", "domain L", "domain eta_l", "domain eta_g")
WEIGHTS = ("domain rho", "domain alpha", "domain beta", "condition alpha", "condition beta")

LIST = {
    "drift": (12 * w, "D <= 1/2, of Lemma 3"),
    "delays": (24 * rho**2 * (alpha + beta) * t, "of Lemma 6"),
    "movement": (3 * rho * (alpha + beta) * s, "where the movement of a round enters twice"),
    "contraction": (24 * w + 12 * rho * (2 * alpha + beta) * (s + 16 * rho * t), "(92)"),
    "step, alone": (3 * rho**2 * s, "for (94)"),
    "delays, alone": (48 * rho**3 * t, "for (94)"),
}


def _facts(step: Any) -> tuple[Fact, ...]:
    return (
        Fact("w", sp.Eq(w, eta_l**2 * (K - 1) ** 2 * L**2), "definition", "the local work"),
        Fact("s", sp.Eq(s, step * L), "definition", "the step in units of 1/L"),
        Fact("t", sp.Eq(t, (K * eta_g * eta_l * tau * L) ** 2), "definition", "the movement over the delay"),
        Fact("worst", sp.Eq(worst, sp.Max(*(left for left, _ in LIST.values()))), "metric", "the largest left side"),
    )


GIVEN = (
    Step("(97), 1", sp.And(w >= 0, 48 * w <= 1), ("w", "condition local work", *WORK), Decide(), "the first of (97)"),
    Step(
        "(97), 2", sp.And(s >= 0, 144 * rho**2 * s <= 1), ("s", "condition step", *WORK), Decide(), "the second of (97)"
    ),
    Step(
        "(97), 3",
        sp.And(t >= 0, 2304 * rho**3 * t <= 1),
        ("t", "condition delay", "domain tau", *WORK),
        Decide(),
        "the third of (97)",
    ),
)
NEEDS = {
    "drift": ("(97), 1",),
    "delays": ("(97), 3", *WEIGHTS),
    "movement": ("(97), 2", *WEIGHTS),
    "contraction": ("(97), 1", "(97), 2", "(97), 3", *WEIGHTS),
    "step, alone": ("(97), 2", "domain rho"),
    "delays, alone": ("(97), 3", "domain rho"),
}


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    step = eta_g * eta_l * (K if statement.reading == "corrected" else 1)
    constraints = [Step(name, sp.Le(left, 1), NEEDS[name], Decide(), why) for name, (left, why) in LIST.items()]
    conclusion = Step("conclusion", sp.Le(worst, 1), ("worst", *LIST), Decide(), "all of them")
    return Derivation(
        statement,
        (*scope_facts(statement), *_facts(step)),
        (*GIVEN, *constraints, conclusion),
        conclusion="conclusion",
        target=worst,
    )
