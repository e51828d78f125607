"""The proof of Lemma C.2 (FedShuffle, Appendix C) from its display on: the step condition put in.

The drift by the clients' gradients is `fedshuffle/drift_of_a_round`, which does not use Assumption 3.3. The readings
differ in the last rounding: the printed one leaves the factor L of the noise out.

    xi   drift of the round        bounded  3 L et xi        clients  sum of w_i |grad f_i(x)|^2 at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2, sigma2, M, E, eta_l, eta_g, gap_0 = symbols("L G2 B2 P2 sigma2 M E eta_l eta_g gap_0")
xi, bounded, clients, H, et = symbols("xi bounded clients H et")

own = 2 * eta_l**2 * L**2 * E**2  # the share of the drift that the drift itself causes
share = 2 * eta_l**2 * (E**2 + P2 / 3)  # of the clients' gradients, before 1/(1 - own)


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma C.2."""
    p = Proof(statement, bounded, at_start=(xi, clients), squares=(gap_0, G2, sigma2))
    p.define(H, (E**2 + P2 / 3) * G2 + sigma2 / 3, "last factor of the lemma")
    p.define(et, E * eta_g * eta_l, "effective step")
    p.known("metric", eq(bounded, 3 * L * et * xi), "what the lemma bounds")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start", client_grad2=clients,
        gap=gap_0)

    p.step("step 1", 4 * L * E * eta_l * (1 + (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2)) <= 1,
        why="from the step condition, eta_g >= 1")
    p.step("own", own <= sp.Rational(1, 8), "step 1", why="as printed")
    p.step("step 2", 16 * L**2 * E**2 * eta_l**2 * (1 + P2 / 3) * B2 <= 1, "step 1", why="(1 + P)^2 >= 1 + P^2")
    p.step("share", 2 * L * B2 * share <= 1 / (4 * L), "step 2", why="as printed, with E >= 1")
    p.cite("drift", xi <= (share * clients + 2 * eta_l**2 * sigma2 / 3) / (1 - own), "drift_of_a_round/corrected", xi,
        "own", "clients >= 0", why="the drift by the clients' gradients", client_grad2_0=clients)
    p.step("display", xi <= (share * (G2 + 2 * L * B2 * gap_0) + 2 * eta_l**2 * sigma2 / 3) / (1 - own),
        {"drift": 1, "A3.3": share / (1 - own)}, "own", why="Assumption 3.3")
    p.step("sharp", bounded <= sp.Rational(6, 7) * et * gap_0 + sp.Rational(48, 7) * L * et * eta_l**2 * H,
        {"display": 3 * L * E * eta_g * eta_l}, "metric", "et", "H", "own", "share",
        why="times 3 L et; 1 - 1/8 = 7/8")
    if p.reading == "sharp":
        p.ends_with("sharp")
        return p.done()
    left = 1 if p.reading == "as_printed" else L
    p.step("rounding", sp.Rational(48, 7) * L * et * eta_l**2 * H <= 9 * left * et * eta_l**2 * H, "et", "H",
        why="48/7 <= 9" if left == L else "48/7 <= 9, and L is left out")
    p.conclude(bounded <= sp.Rational(9, 10) * et * gap_0 + 9 * left * et * eta_l**2 * H, {"sharp": 1, "rounding": 1},
        "et", "H", why="6/7 <= 9/10")
    return p.done()
