"""Section 5 of FedShuffle: the middle term of the strongly convex bound, from the last term of Lemma C.2.

After division by et the drift's last term is L*eta_l^2*H, up to its constant; the step of order 1/(mu R) is put in.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected",)

mu, L, G2, P2, sigma2, E, eta_g, R = sp.symbols("mu L G2 P2 sigma2 E eta_g R", real=True)
eta_l, et, H, term = sp.symbols("eta_l et H term", real=True)

FACTS = (
    Fact("H", sp.Eq(H, (E**2 + P2) * G2 + sigma2), "metric", "the numerator, with Section 5's P^2 and sigma^2"),
    Fact("term", sp.Eq(term, L * eta_l**2 * H), "metric", "the drift's last term over et, its constant left out"),
    Fact("effective", sp.Eq(E * eta_g * eta_l, et), "metric", "the effective step"),
    Fact("step", sp.Eq(et * mu * R, 1), "metric", "the order of the tuned step"),
)
SIZES = ("domain mu", "domain E", "domain eta_g", "domain R")
STEPS = (
    Step("local", sp.Eq(eta_l, 1 / (mu * R * eta_g * E)), ("effective", "step", *SIZES), Decide(), "solved for eta_l"),
    Step(
        "conclusion",
        sp.Eq(term, L * ((E**2 + P2) * G2 + sigma2) / (mu * R * eta_g * E) ** 2),
        ("term", "H", "local", *SIZES),
        Decide(),
        "put in",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=term)
