"""From (98) to (97), and to the constraints of Appendix A.5 (asynchronous federated learning): scalar implications.

    w  (eta_l (K - 1) L)^2, so that D = 6 w    s  step times L    t  (h tau L)^2    worst  the largest left side

Definitions and constraints are those of the derivation from (97). (98) gives more than (97): 144 rho^2 s is at most
1/(tau + 1), and what the delays take of the contraction is covered by what the step leaves of it, so that beta may
reach 9 rho. Without a bound on beta three of the steps are refuted; there each step is decided from (98) itself, so
that the numbers which break it are step sizes, weights and delays that meet it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.discovery import derivation as derivation_of
from boundcheck.proof.proof import Proof, symbols

READINGS = ("corrected", "as_printed")

L, K, eta_l, eta_g, rho, tau, w, s, t, worst = symbols("L K eta_l eta_g rho tau w s t worst")

cap = "condition step size (98)"
NEEDS = {
    "drift": ("(97), 1",),
    "delays": ("round", "room"),
    "movement": ("round",),
    "contraction": ("work", "round", "room"),
    "step, alone": ("(97), 2",),
    "delays, alone": ("(97), 3",),
}


def derivation(statement: Any) -> Any:
    """The derivation of one reading."""
    p = Proof(statement, worst, named=(cap,))
    other = f"async_fl/equation_97_constraints/{p.reading}"
    p.take_facts(other)
    p.step("cap, 1", 48 * K * L * eta_l <= 1, cap, why="the first term of the minimum")
    p.step("cap, 2", 144 * rho**2 * K * eta_g * eta_l * L * (tau + 1) <= 1, cap, why="the second term of the minimum")
    p.step("work", sp.And(w >= 0, 2304 * w <= 1), "w", "cap, 1", why="(K - 1)^2 <= K^2")
    p.step("round", sp.And(s >= 0, 144 * rho**2 * s <= 1), "s", "cap, 2", why="tau + 1 >= 1")
    p.step("room", sp.And(t >= 0, 20736 * rho**4 * t <= 1 - 144 * rho**2 * s), "s", "t", "cap, 2", "round",
        why="with y = 144 rho^2 h L, y tau <= 1 - y, whose square is at most 1 - y")
    p.step("(97), 1", 48 * w <= 1, "work", why="the first of (97)")
    p.step("(97), 2", 144 * rho**2 * s <= 1, "round", why="the second of (97)")
    p.step("(97), 3", 2304 * rho**3 * t <= 1, "round", "room", why="the third of (97), nine times over")
    for constraint in (x for x in derivation_of(other).steps if x.name in NEEDS):
        uses = (cap, "w", "s", "t") if p.reading == "as_printed" else NEEDS[constraint.name]
        p.step(constraint.name, constraint.claim, *uses, why=constraint.text)
    p.take_steps(other, "conclusion")
    p.ends_with("conclusion")
    return p.done()
