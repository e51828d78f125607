"""Remark E.2 of FedShuffle: the ratio of the largest local steps, from the two step conditions of Theorem E.1.

top     1/(4 beta L), the same for both methods     own, other  the largest local steps of client i
FedShuffle has W = 1 and c_i = E_i |D_i| = work; FedAvg and FedNova have W and c_i = max E_j |D_j| = largest.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.proof import Proof, eq, symbols

READINGS = ("corrected",)
work, largest, W, eta_g, top, own, other, ratio = symbols("work largest W eta_g top own other ratio")


def derivation(statement: Any) -> Any:
    """The derivation of the corrected reading."""
    p = Proof(statement, ratio)
    p.known("top", top > 0, "1/(4 beta L)")
    p.known("own", eq(own, sp.Min(top, top / eta_g) / work), "eta_l and eta_g eta_l are at most top")
    p.known("other", eq(other, sp.Min(top, top / (W * eta_g)) / largest), "eta_l and W eta_g eta_l are at most top")
    p.known("ratio", eq(ratio * other, own), "FedShuffle's over the other's")
    p.step("step own", eq(own * eta_g * work, top), "own", "top", why="eta_g >= 1")
    p.step("step other", eq(other * eta_g * largest, top * sp.Min(eta_g, 1 / W)), "other", "top",
        why="eta_g times the minimum")
    p.signs(other > 0, "other", "top", why="a minimum of positive numbers")
    p.conclude(eq(ratio, largest / (work * sp.Min(eta_g, 1 / W))), "ratio", "step own", "step other", "other > 0",
        "top", why="divided")
    return p.done()
