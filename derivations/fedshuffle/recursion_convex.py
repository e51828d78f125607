"""The recursion of Theorem 5.1 (FedShuffle) where the losses are convex, from Lemmas C.1 and C.2.

    xi  drift of the round    clients  sum of w_i |grad f_i|^2 at its start    a, b  the two parts of 4 beta L et <= 1

The corrected and the printed reading add the two lemmas; the printed one inherits the factor L that Lemma C.2 leaves
out. The sharp one puts the step condition into the displays before it at once, so that its parts share it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("corrected", "as_printed", "sharp")

mu, L, G2, B2, P2, sigma2, M, E, eta_l, eta_g, dist2_0, gap_0 = symbols(
    "mu L G2 B2 P2 sigma2 M E eta_l eta_g dist2_0 gap_0")
et, H, a, b, xi, clients, dist2_1 = symbols("et H a b xi clients dist2_1")
start = (1 - mu * et / 2) * dist2_0


def derivation(statement: Any) -> Any:
    """The derivation of one reading of the recursion."""
    p = Proof(statement, dist2_1, at_start=(xi, clients), squares=(gap_0, G2, sigma2, dist2_0))
    p.define(et, E * eta_g * eta_l, "effective step")
    p.define(H, (E**2 + P2 / 3) * G2 + sigma2 / 3, "last factor of Lemma C.2")
    p.known("drift >= 0", xi >= 0, "a mean of squared norms")
    if p.reading == "sharp":
        shared(p)
        return p.done()
    noise = 9 * (1 if p.reading == "as_printed" else L) * et * eta_l**2 * H
    p.cite("C.1", dist2_1 <= start - et * gap_0 + 3 * L * et * xi + 2 * et**2 * M * G2, "lemma_c_1/corrected", dist2_1,
        "drift >= 0", why="progress of the round", drift_0=xi, dist2_0=dist2_0, gap_0=gap_0)
    p.cite("C.2", 3 * L * et * xi <= sp.Rational(9, 10) * et * gap_0 + noise, f"lemma_c_2/{p.reading}", xi,
        why="drift of the round", gap_0=gap_0)
    p.conclude(dist2_1 <= start - et / 10 * gap_0 + 2 * et**2 * M * G2 + noise, {"C.1": 1, "C.2": 1},
        why="the lemmas added")
    return p.done()


def shared(p: Proof) -> None:
    """The displays of both lemmas before the step condition, which is then put in once."""
    own, share = 2 * eta_l**2 * L**2 * E**2, 2 * eta_l**2 * (E**2 + P2 / 3)
    p.define(a, 4 * L * E * eta_g * eta_l * (1 + M * B2), "part of the step condition")
    p.define(b, 4 * L * E * eta_g * eta_l * (1 + sp.sqrt(P2 / 3)) * sp.sqrt(B2), "the rest of the step condition")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start of the round",
        client_grad2=clients, gap=gap_0)
    p.signs(b >= 0, "b", why="a product of such")
    p.signs(a >= 0, "a", why="a product of such")
    p.step("a + b", a + b <= 1, "a", "b", why="the step condition")
    p.step("own", own <= b**2 / 8, "b", why="as in Lemma C.2, with B >= 1")
    p.step("share", 2 * L * B2 * share <= b**2 / (4 * L), "b", why="as in Lemma C.2")
    p.step("cohort", (1 + M) * L * et <= a / 4, "a", "et", why="as in Lemma C.1")
    p.cite("C.1", dist2_1 <= start - 2 * et * gap_0 + 2 * L * et * xi
        + 2 * et**2 * ((1 + M) * L**2 * xi + M * G2 + 2 * L * (1 + M * B2) * gap_0), "lemma_c_1/raw", dist2_1,
        "drift >= 0", why="progress of the round before the step condition", drift_0=xi, dist2_0=dist2_0, gap_0=gap_0)
    p.step("local step", eta_l <= 1 / (2 * E * L), why="the drift's own condition")
    p.cite("C.2.1", xi <= (share * clients + 2 * eta_l**2 * sigma2 / 3) / (1 - own), "drift_of_a_round/corrected", xi,
        "local step", "clients >= 0", why="drift of the round before the step condition", client_grad2_0=clients)
    p.step("C.2.2", xi <= (share * 2 * L * B2 * gap_0 + 2 * eta_l**2 * H) / (1 - own),
        {"C.2.1": 1, "A3.3": share / (1 - own)}, "H", "own", "b >= 0", "a >= 0", "a + b", why="Assumption 3.3")
    p.step("C.2", xi <= (b**2 / (4 * L) * gap_0 + 2 * eta_l**2 * H) / (1 - b**2 / 8),
        {"C.2.2": 1}, "H", "own", "share", "b >= 0", "a >= 0", "a + b", why="in terms of b")
    p.signs(et > 0, "et", why="the effective step is positive")
    p.step("a.1", eq(a, 4 * L * et * (1 + M * B2)), "a", "et", why="by definition")
    p.step("sum", dist2_1 <= start - (2 - a) * et * gap_0 + (2 + a / 2) * L * et * xi + 2 * et**2 * M * G2,
        {"C.1": 1}, "a.1", "cohort", "drift >= 0", "et > 0", why="in terms of a")
    p.conclude(dist2_1 <= start - et * gap_0 + 2 * et**2 * M * G2 + 5 * L * et * eta_l**2 * H,
        {"sum": 1, "C.2": (2 + a / 2) * L * et}, "H", "a >= 0", "b >= 0", "a + b", "et > 0",
        why="(5 - b) b <= 8 - b^2 for 0 <= b <= 1")
