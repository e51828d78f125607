"""The proof of Lemma D.2 (Horvath et al., FedShuffle, Appendix D) as checked steps, for every outcome.

m, x, y        momentum, start of the round, start of the epoch
fix, fiy       gradient of f_i at x and y               fx, fy    the same of f
d              direction (25) of the epoch
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import Evaluation, pointwise
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide, Identity
from boundcheck.proof.rules import Jensen
from boundcheck.proof.step import Fact, Step
from boundcheck.proof.vectors import VectorEquality, norm2, vector
from boundcheck.theory.assumptions import hessian_similarity

READINGS = ("as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


h2, y2, gam2, delta, a, error2 = _symbols("h2 y2 gam2 delta a error2")
QUANTITIES = frozenset({"h2", "y2", "gam2"})
third = sp.Rational(1, 3)

m, x, y, d = vector("m"), vector("x"), vector("y"), vector("d")
fix, fiy, fx, fy = vector("fix"), vector("fiy"), vector("fx"), vector("fy")
h, Z, G = m - fx, fiy - fix - fy + fx, fix - fx
AT_Y_AND_X = tuple(
    Evaluation(function, point, gradient)
    for function, point, gradient in (("f_i", y, fiy), ("f_i", x, fix), ("F", y, fy), ("F", x, fx))
)

FACTS = (
    Fact("direction", VectorEquality(d, fiy * a + m * (1 - a) + (fiy - fix) * (1 - a)), "algorithm", "(25)"),
    Fact("h2", sp.Le(norm2(h), h2), "metric", "Lemma D.2"),
    Fact("y2", sp.Le(norm2(y - x), y2), "metric", "Lemma D.2"),
    Fact("gam2", sp.Le(norm2(G), gam2), "metric", "Lemma D.2"),
    Fact("error2", sp.Le(error2, norm2(d - fy)), "metric", "Lemma D.2"),
    pointwise("A3.5", hessian_similarity, "Assumption 3.5", *AT_Y_AND_X),
)

COMMON = (
    Step(
        "three parts",
        VectorEquality(d - fy, h * (1 - a) + Z + G * a),
        ("direction",),
        Identity(),
        "grad f(x), grad f_i(x) and grad f(y) added and subtracted",
    ),
    Step(
        "square",
        sp.Le(norm2(d - fy), 3 * (1 - a) ** 2 * norm2(h) + 3 * norm2(Z) + 3 * a**2 * norm2(G)),
        ("direction",),
        Jensen((third, third, third), (h * (3 * (1 - a)), Z * 3, G * (3 * a))),
        "Lemma B.6 with three terms",
    ),
)
ROUNDED = (
    Step("factor", (1 - a) ** 2 <= 1, ("domain a", "condition momentum"), Decide(), "0 <= a <= 1"),
    Step(
        "conclusion",
        sp.Le(error2, 3 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2),
        ("square", "factor", "A3.5", "h2", "y2", "gam2", "error2"),
        Combine({"error2": 1, "square": 1, "A3.5": 3, "h2": 3 * (1 - a) ** 2, "y2": 3 * delta**2, "gam2": 3 * a**2}),
        "Assumption 3.5 and (1-a)^2 <= 1",
    ),
)
SHARP = (
    Step(
        "conclusion",
        sp.Le(error2, 3 * (1 - a) ** 2 * h2 + 3 * delta**2 * y2 + 3 * a**2 * gam2),
        ("square", "A3.5", "h2", "y2", "gam2", "error2", "condition momentum", "domain a"),
        Combine({"error2": 1, "square": 1, "A3.5": 3, "h2": 3 * (1 - a) ** 2, "y2": 3 * delta**2, "gam2": 3 * a**2}),
        "Assumption 3.5",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma D.2."""
    steps = (*COMMON, *(SHARP if statement.reading == "sharp" else ROUNDED))
    return Derivation(statement, (*scope_facts(statement), *FACTS), steps, "conclusion", error2, QUANTITIES)
