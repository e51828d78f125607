"""From (98) to (97), and to the constraints of Appendix A.5 (asynchronous federated learning): scalar implications.

    w  (eta_l (K - 1) L)^2, so that D = 6 w    s  step times L    t  (h tau L)^2    worst  the largest left side

Definitions and constraints are those of the derivation from (97). (98) gives more than (97): 144 rho^2 s is at most
1/(tau + 1), and what the delays take of the contraction is covered by what the step leaves of it, so that beta may
reach 9 rho. Without a bound on beta three of the steps are refuted; there each step is decided from (98) itself, so
that the numbers which break it are step sizes, weights and delays that meet it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Step

READINGS = ("corrected", "as_printed")

L, K, eta_l, eta_g, rho, tau, w, s, t = sp.symbols("L K eta_l eta_g rho tau w s t", real=True)

WORK = ("domain K", "domain L", "domain eta_l", "domain eta_g")
CAP = ("condition step size (98)", "domain rho", "domain tau", *WORK)
WEIGHTS = ("domain rho", "domain alpha", "domain beta", "condition alpha", "condition beta")

GIVEN = (
    Step("cap, 1", 48 * K * L * eta_l <= 1, CAP, Decide(), "the first term of the minimum"),
    Step(
        "cap, 2", 144 * rho**2 * K * eta_g * eta_l * L * (tau + 1) <= 1, CAP, Decide(), "the second term of the minimum"
    ),
    Step("work", sp.And(w >= 0, 2304 * w <= 1), ("w", "cap, 1", *WORK), Decide(), "(K - 1)^2 <= K^2"),
    Step(
        "round",
        sp.And(s >= 0, 144 * rho**2 * s <= 1),
        ("s", "cap, 2", "domain rho", "domain tau", *WORK),
        Decide(),
        "tau + 1 >= 1",
    ),
    Step(
        "room",
        sp.And(t >= 0, 20736 * rho**4 * t <= 1 - 144 * rho**2 * s),
        ("s", "t", "cap, 2", "round", "domain rho", "domain tau", *WORK),
        Decide(),
        "with y = 144 rho^2 h L, y tau <= 1 - y, whose square is at most 1 - y",
    ),
    Step("(97), 1", 48 * w <= 1, ("work",), Decide(), "the first of (97)"),
    Step("(97), 2", 144 * rho**2 * s <= 1, ("round",), Decide(), "the second of (97)"),
    Step(
        "(97), 3",
        2304 * rho**3 * t <= 1,
        ("round", "room", "domain rho"),
        Decide(),
        "the third of (97), nine times over",
    ),
)
NEEDS = {
    "drift": ("(97), 1",),
    "delays": ("round", "room", *WEIGHTS),
    "movement": ("round", *WEIGHTS),
    "contraction": ("work", "round", "room", *WEIGHTS),
    "step, alone": ("(97), 2",),
    "delays, alone": ("(97), 3",),
}


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading."""
    other = derivation_of(f"async_fl/equation_97_constraints/{statement.reading}")
    every = tuple(dict.fromkeys(("w", "s", "t", *CAP, *WEIGHTS)))
    uses = dict.fromkeys(NEEDS, every) if statement.reading == "as_printed" else NEEDS
    constraints = [Step(x.name, x.claim, uses[x.name], Decide(), x.text) for x in other.steps if x.name in NEEDS]
    last = next(x for x in other.steps if x.name == other.conclusion)
    return Derivation(
        statement,
        (*scope_facts(statement), *(f for f in other.facts if f.kind not in ("domain", "condition"))),
        (*GIVEN, *constraints, last),
        conclusion=last.name,
        target=other.target,
    )
