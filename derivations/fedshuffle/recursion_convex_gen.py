"""The sharp recursion of Theorem E.1 (FedShuffle) where the losses are convex, from the displays of E.3 and E.4.

    xi    drift of the round           clients  sum of what_i |grad f_i|^2 at its start
    a, b  the shares that 1 + M1 B^2 and (1 + P) B have in beta: a + b = 1

The step conditions are put into both displays at once, so that their parts share them.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols
from boundcheck.theory.assumptions import relaxed_dissimilarity

READINGS = ("sharp",)

mu, L, G2, B2, P2_gen, sigma2_gen, M1 = symbols("mu L G2 B2 P2_gen sigma2_gen M1")
W, eta_l, eta_g, dist2_0, gap_0, dist2_1 = symbols("W eta_l eta_g dist2_0 gap_0 dist2_1")
et, H, beta, a, b, xi, clients = symbols("et H beta a b xi clients")
own, start = 2 * eta_l**2 * L**2, (1 - mu * et / 2) * dist2_0


def derivation(statement: Any) -> Any:
    """The derivation of the sharp reading of the recursion."""
    p = Proof(statement, dist2_1, at_start=(xi, clients), squares=(gap_0, G2, sigma2_gen, dist2_0))
    p.define(et, W * eta_g * eta_l, "effective step")
    p.define(H, (1 + P2_gen) * G2 + sigma2_gen, "last factor of Lemma E.4")
    p.define(beta, 1 + (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) + M1 * B2, "of the step condition")
    p.define(a, (1 + M1 * B2) / beta, "part of the step condition")
    p.define(b, (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) / beta, "the rest of the step condition")
    p.known("drift >= 0", xi >= 0, "a mean of squared norms")
    p.known("clients >= 0", clients >= 0, "a sum of squared norms")
    p.pointwise("A3.3", relaxed_dissimilarity, "Assumption 3.3 as in (5), at the start of the round",
        client_grad2=clients, gap=gap_0)

    shares(p)
    p.cite("drift", xi <= 2 * eta_l**2 * ((1 + P2_gen) * clients + sigma2_gen) / (1 - own),
        "drift_of_a_round_gen/corrected", xi, "local step", "clients >= 0",
        why="drift of the round before the step condition", client_grad2_0=clients)
    p.step("E.4.1", (1 - own) * xi <= 2 * eta_l**2 * ((1 + P2_gen) * 2 * L * B2 * gap_0 + H),
        {"drift": 1 - own, "A3.3": 2 * eta_l**2 * (1 + P2_gen)}, "H", "solvable", why="Assumption 3.3")
    p.step("E.4", (1 - b**2 / 8) * xi <= b**2 / (4 * L) * gap_0 + 2 * eta_l**2 * H, {"E.4.1": 1}, "own", "share",
        "drift >= 0", why="in terms of b")
    p.cite("E.3", dist2_1 <= start - 2 * et * gap_0 + 2 * L * et * xi
        + 2 * et**2 * ((1 + M1) * L**2 * xi + M1 * G2 + 2 * L * (1 + M1 * B2) * gap_0), "lemma_e_3/raw", dist2_1,
        "drift >= 0", why="progress of the round before the step condition", drift_0=xi, dist2_0=dist2_0, gap_0=gap_0)
    p.step("sum", dist2_1 <= start - (2 - a) * et * gap_0 + (2 + a / 2) * L * et * xi + 2 * et**2 * M1 * G2, {"E.3": 1},
        "a.1", "cohort", "drift >= 0", "et > 0", why="in terms of a")
    p.conclude(dist2_1 <= start - et * gap_0 + 2 * et**2 * M1 * G2 + 5 * L * et * eta_l**2 * H,
        {"sum": 1, "E.4": (2 + a / 2) * L * et / (1 - b**2 / 8)}, "H", "a >= 0", "b >= 0", "a + b", "et > 0",
        why="(5 - b) b <= 8 - b^2 for 0 <= b <= 1")
    return p.done()


def shares(p: Proof) -> None:
    """The step conditions in terms of a and b."""
    p.signs(et > 0, "et", why="the effective step is positive")
    p.signs(beta >= 1, "beta", why="no negative term")
    p.signs(a >= 0, "a", "beta >= 1", why="a quotient of such")
    p.signs(b >= 0, "b", "beta >= 1", why="a quotient of such")
    p.step("a + b", eq(a + b, 1), "a", "b", "beta", "beta >= 1", why="the parts of beta")
    p.step("effective", 4 * L * et * beta <= 1, "et", "beta", why="the step condition")
    p.step("local", 4 * L * eta_l * beta <= 1, "beta", why="the step condition")
    p.step("a.1", 4 * L * et * (1 + M1 * B2) <= a, "a", "effective", "et > 0", "beta >= 1",
        why="the share of 1 + M1 B^2")
    p.step("cohort", (1 + M1) * L * et <= a / 4, "condition B at least 1", "a.1", "et > 0", why="as in Lemma E.3")
    p.step("b.1", 4 * L * eta_l * (1 + sp.sqrt(P2_gen)) * sp.sqrt(B2) <= b, "b", "local", "beta >= 1",
        why="the share of (1 + P) B")
    p.step("own", own <= b**2 / 8, "condition B at least 1", "b.1", why="as in Lemma E.4, with B >= 1")
    p.step("share", 2 * B2 * eta_l**2 * (1 + P2_gen) <= b**2 / (8 * L**2), "b.1", why="as in Lemma E.4")
    p.step("local step", eta_l <= 1 / (2 * L), "local", "beta >= 1", why="the drift's own condition")
    p.step("solvable", own < 1, "local step", why="so that it can be solved")
