"""The proof of Lemma E.4 (FedShuffle, Appendix E) from its display on: the step condition put in.

The drift by the clients' gradients is `fedshuffle/drift_of_a_round_gen`, which does not use Assumption 3.3. The
readings differ in the last rounding: the printed one leaves the factor L of the noise out, and takes et/eta_g for the
local step.

    xi   drift of the round        bounded  3 L et xi        clients  sum of what_i |grad f_i(x)|^2 at the start x
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")

L, G2, B2, P2_gen, sigma2_gen, W, eta_l, eta_g, gap_0 = symbols("L G2 B2 P2_gen sigma2_gen W eta_l eta_g gap_0")
xi, bounded, clients, H, et = symbols("xi bounded clients H et")

own = 2 * eta_l**2 * L**2  # the share of the drift that the drift itself causes
share = 2 * eta_l**2 * (1 + P2_gen)  # of the clients' gradients, before 1/(1 - own)


def derivation(statement: Any) -> Any:
    """The derivation of one reading of Lemma E.4."""
    p = Proof(statement, bounded, at_start=(xi, clients), squares=(gap_0, G2, sigma2_gen))
    p.define(H, (1 + P2_gen) * G2 + sigma2_gen, "last factor of the lemma")
    p.define(et, W * eta_g * eta_l, "effective step")
    p.known("metric", eq(bounded, 3 * L * et * xi), "what the lemma bounds")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start", client_grad2=clients,
        gap=gap_0)

    p.step("step 1", 4 * L * eta_l * (1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2)) <= 1, why="from the step condition")
    p.step("own", own <= sp.Rational(1, 8), "step 1", why="as printed")
    p.step("step 2", 16 * L**2 * eta_l**2 * (1 + P2_gen) * B2 <= 1, "step 1", why="(1 + P)^2 >= 1 + P^2")
    p.cite("drift", xi <= (share * clients + 2 * eta_l**2 * sigma2_gen) / (1 - own), "drift_of_a_round_gen/corrected",
        xi, "own", "clients >= 0", why="the drift by the clients' gradients", client_grad2_0=clients)
    p.step("display", xi <= (share * (G2 + 2 * L * B2 * gap_0) + 2 * eta_l**2 * sigma2_gen) / (1 - own),
        {"drift": 1, "A3.3": share / (1 - own)}, "own", why="Assumption 3.3")
    p.step("sharp", bounded <= sp.Rational(6, 7) * et * gap_0 + sp.Rational(48, 7) * L * et * eta_l**2 * H,
        {"display": 3 * L * W * eta_g * eta_l}, "metric", "et", "H", "own", "step 2",
        why="times 3 L et; 1 - 1/8 = 7/8")
    if p.reading == "sharp":
        p.ends_with("sharp")
        return p.done()
    if p.reading == "as_printed":
        noise, conditions = 9 * et * (et / eta_g)**2 * H, ("condition step size", "condition server step size")
        slip = "48/7 <= 9; L is left out, and et/eta_g is W times the local step"
    else:
        noise, conditions, slip = 9 * L * et * eta_l**2 * H, ("condition local step size",), "48/7 <= 9"
    p.step("rounding", sp.Rational(48, 7) * L * et * eta_l**2 * H <= noise, "et", "H", *conditions, why=slip)
    p.conclude(bounded <= sp.Rational(9, 10) * et * gap_0 + noise, {"sharp": 1, "rounding": 1}, "et", "H",
        why="6/7 <= 9/10")
    return p.done()
