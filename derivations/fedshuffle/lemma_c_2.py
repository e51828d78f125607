"""The proof of Lemma C.2 (FedShuffle, Appendix C) from its display on: the step condition put in.

The drift by the clients' gradients is `fedshuffle/drift_of_a_round`, which does not use Assumption 3.3. The readings
differ in the last rounding: the printed one leaves the factor L of the noise out.

    xi   drift of the round        bounded  3 L et xi        clients  sum of w_i |grad f_i(x)|^2 at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.at_points import pointwise
from boundcheck.proof.cited import Instance
from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.gram import Combine
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, G2, B2, P2, sigma2, M, E, eta_l, eta_g, gap_0 = _symbols("L G2 B2 P2 sigma2 M E eta_l eta_g gap_0")
xi, bounded, clients, H, et = _symbols("xi bounded clients H et")

own = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
before = 2 * eta_l**2 * ((E**2 + P2 / 3) * clients + sigma2 / 3) / (1 - own)
display = 2 * eta_l**2 * ((E**2 + P2 / 3) * (G2 + 2 * L * B2 * gap_0) + sigma2 / 3) / (1 - own)
sharp = sp.Rational(6, 7) * et * gap_0 + sp.Rational(48, 7) * L * et * eta_l**2 * H
SIZES = ("domain L", "domain E", "domain eta_l", "domain P2", "domain B2")

FACTS = (
    Fact("H", sp.Eq(H, (E**2 + P2 / 3) * G2 + sigma2 / 3), "definition", "last factor of the lemma"),
    Fact("et", sp.Eq(et, E * eta_g * eta_l), "definition", "effective step"),
    Fact("metric", sp.Eq(bounded, 3 * L * et * xi), "metric", "what the lemma bounds"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start", client_grad2=clients, gap=gap_0),
)


def _steps(statement: Any) -> tuple[Step, ...]:
    names = [f"condition {c.name}" for c in statement.conditions]
    root = sp.sqrt(P2 / 3)
    steps = (
        Step(
            "step 1",
            4 * L * E * eta_l * (1 + (1 + root) * sp.sqrt(B2)) <= 1,
            (*names, *SIZES, "domain eta_g", "domain M"),
            Decide(),
            "from the step condition, eta_g >= 1",
        ),
        Step("own", own <= sp.Rational(1, 8), ("step 1", *SIZES), Decide(), "as printed"),
        Step(
            "step 2",
            16 * L**2 * E**2 * eta_l**2 * (1 + P2 / 3) * B2 <= 1,
            ("step 1", *SIZES),
            Decide(),
            "(1 + P)^2 >= 1 + P^2",
        ),
        Step(
            "share",
            4 * L * B2 * eta_l**2 * (E**2 + P2 / 3) <= 1 / (4 * L),
            ("step 2", *SIZES),
            Decide(),
            "as printed, with E >= 1",
        ),
        Step(
            "drift",
            sp.Le(xi, before),
            ("own", "clients >= 0", "domain sigma2", *SIZES),
            Instance("fedshuffle/drift_of_a_round/corrected", xi, (("client_grad2_0", clients),)),
            "the drift by the clients' gradients",
        ),
        Step(
            "display",
            sp.Le(xi, display),
            ("drift", "A3.3", "own", *SIZES),
            Combine({"drift": 1, "A3.3": 2 * eta_l**2 * (E**2 + P2 / 3) / (1 - own)}),
            "Assumption 3.3",
        ),
        Step(
            "sharp",
            sp.Le(bounded, sharp),
            ("display", "metric", "et", "H", "own", "share", "domain eta_g", *SIZES),
            Combine({"display": 3 * L * E * eta_g * eta_l}),
            "times 3 L et; 1 - 1/8 = 7/8",
        ),
    )
    if statement.reading == "sharp":
        return steps
    left = 1 if statement.reading == "as_printed" else L
    rounded = Step(
        "rounding",
        sp.Rational(48, 7) * L * et * eta_l**2 * H <= 9 * left * et * eta_l**2 * H,
        ("et", "H", *names, "domain eta_g", "domain G2", "domain sigma2", "domain M", *SIZES),
        Decide(),
        "48/7 <= 9" if left == L else "48/7 <= 9, and L is left out",
    )
    last = Step(
        "conclusion",
        sp.Le(bounded, sp.Rational(9, 10) * et * gap_0 + 9 * left * et * eta_l**2 * H),
        ("sharp", "rounding", "et", "H", "domain eta_g", *SIZES),
        Combine({"sharp": 1, "rounding": 1}),
        "6/7 <= 9/10",
    )
    return (*steps, rounded, last)


def derivation(statement: Any) -> Derivation:
    """The derivation of one reading of Lemma C.2."""
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        _steps(statement),
        conclusion="sharp" if statement.reading == "sharp" else "conclusion",
        target=bounded,
        quantities=frozenset({"gap_0", "G2", "sigma2"}),
        rounds=((xi, 0), (clients, 0)),
    )
