"""The non-convex form of Lemma C.2 (FedShuffle, end of Appendix C): the drift by the squared gradient at the start.

xi   drift of the round        clients  sum of w_i |grad f_i(x)|^2 at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, symbols
from boundcheck.theory.assumptions import gradient_dissimilarity

READINGS = ("corrected",)

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g, grad2_0 = symbols("L G2 B2 P2 sigma2 M E eta_l eta_g grad2_0")
xi, clients, H = symbols("xi clients H")

own = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
share = 2 * eta_l**2 * (E**2 + P2 / 3)  # of the clients' gradients, before 1/(1 - own)


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, xi, at_start=(clients,), squares=(grad2_0, G2, sigma2))
    p.define(H, (E**2 + P2 / 3) * G2 + sigma2 / 3, "last factor of the lemma")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.pointwise("A3.3", gradient_dissimilarity, "Assumption 3.3 as in (4), at the start", client_grad2=clients,
        grad2=grad2_0)

    p.step("step 1", 4 * L * E * eta_l * (1 + (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2)) <= 1,
        why="from the step condition, eta_g >= 1")
    p.step("own", own <= sp.Rational(1, 8), "step 1", why="as in Lemma C.2")
    p.step("step 2", 16 * L**2 * E**2 * eta_l**2 * (1 + P2 / 3) * B2 <= 1, "step 1", why="(1 + P)^2 >= 1 + P^2")
    p.step("share", B2 * share <= 1 / (8 * L**2), "step 2",
        why="as in Lemma C.2, with the gap replaced by the squared gradient over 2 L")
    p.cite("drift", xi <= (share * clients + 2 * eta_l**2 * sigma2 / 3) / (1 - own), "drift_of_a_round/corrected", xi,
        "own", "clients >= 0", why="the drift by the clients' gradients", client_grad2_0=clients)
    p.step("display", xi <= (share * (G2 + B2 * grad2_0) + 2 * eta_l**2 * sigma2 / 3) / (1 - own),
        {"drift": 1, "A3.3": share / (1 - own)}, "own", why="Assumption 3.3")
    p.conclude(xi <= grad2_0 / (7 * L**2) + sp.Rational(16, 7) * eta_l**2 * H, {"display": 1}, "H", "own", "share",
        why="1 - 1/8 = 7/8")
    return p.done()
