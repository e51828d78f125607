"""Section 5 of FedShuffle: the middle term of the strongly convex bound, from the last term of Lemma C.2.

After division by et the drift's last term is L*eta_l^2*H, up to its constant; the step of order 1/(mu R) is put in.
"""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected",)
mu, L, G2, P2, sigma2, E, eta_g, R = symbols("mu L G2 P2 sigma2 E eta_g R")
eta_l, et, H, term = symbols("eta_l et H term")


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, term)
    p.known("H", eq(H, (E**2 + P2) * G2 + sigma2), "the numerator, with Section 5's P^2 and sigma^2")
    p.known("term", eq(term, L * eta_l**2 * H), "the drift's last term over et, its constant left out")
    p.known("effective", eq(E * eta_g * eta_l, et), "the effective step")
    p.known("step", eq(et * mu * R, 1), "the order of the tuned step")
    p.step("local", eq(eta_l, 1 / (mu * R * eta_g * E)), "effective", "step", why="solved for eta_l")
    p.conclude(eq(term, L * ((E**2 + P2) * G2 + sigma2) / (mu * R * eta_g * E)**2), "term", "H", "local", why="put in")
    return p.done()
