"""The non-convex form of Lemma C.2 (FedShuffle, end of Appendix C): the drift by the squared gradient at the start.

xi   drift of the round        clients  sum of w_i |grad f_i(x)|^2 at the start x
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
from boundcheck.theory.assumptions import gradient_dissimilarity

READINGS = ("corrected",)


def _symbols(names: str) -> Any:
    return sp.symbols(names, real=True)


L, G2, B2, P2, sigma2, M, E, eta_l, eta_g, grad2_0 = _symbols("L G2 B2 P2 sigma2 M E eta_l eta_g grad2_0")
xi, clients, H = _symbols("xi clients H")

own = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
before = 2 * eta_l**2 * ((E**2 + P2 / 3) * clients + sigma2 / 3) / (1 - own)
display = 2 * eta_l**2 * ((E**2 + P2 / 3) * (G2 + B2 * grad2_0) + sigma2 / 3) / (1 - own)
SIZES = ("domain L", "domain E", "domain eta_l", "domain P2", "domain B2")

FACTS = (
    Fact("H", sp.Eq(H, (E**2 + P2 / 3) * G2 + sigma2 / 3), "definition", "last factor of the lemma"),
    Fact("clients >= 0", clients >= 0, "metric", "a sum of squared norms"),
    pointwise(
        "A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4), at the start", client_grad2=clients, grad2=grad2_0
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    names = [f"condition {c.name}" for c in statement.conditions]
    steps = (
        Step(
            "step 1",
            4 * L * E * eta_l * (1 + (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2)) <= 1,
            (*names, *SIZES, "domain eta_g", "domain M"),
            Decide(),
            "from the step condition, eta_g >= 1",
        ),
        Step("own", own <= sp.Rational(1, 8), ("step 1", *SIZES), Decide(), "as in Lemma C.2"),
        Step(
            "step 2",
            16 * L**2 * E**2 * eta_l**2 * (1 + P2 / 3) * B2 <= 1,
            ("step 1", *SIZES),
            Decide(),
            "(1 + P)^2 >= 1 + P^2",
        ),
        Step(
            "share",
            2 * B2 * eta_l**2 * (E**2 + P2 / 3) <= 1 / (8 * L**2),
            ("step 2", *SIZES),
            Decide(),
            "as in Lemma C.2, with the gap replaced by the squared gradient over 2 L",
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
            "conclusion",
            sp.Le(xi, grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H),
            ("display", "H", "own", "share", *SIZES),
            Combine({"display": 1}),
            "1 - 1/8 = 7/8",
        ),
    )
    return Derivation(
        statement,
        (*scope_facts(statement), *FACTS),
        steps,
        conclusion="conclusion",
        target=xi,
        quantities=frozenset({"grad2_0", "G2", "sigma2"}),
        rounds=((clients, 0),),
    )
