"""Remark E.2 of FedShuffle: the ratio of the largest local steps, from the two step conditions of Theorem E.1.

top     1/(4 beta L), the same for both methods     own, other  the largest local steps of client i
FedShuffle has W = 1 and c_i = E_i |D_i| = work; FedAvg and FedNova have W and c_i = max E_j |D_j| = largest.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.identity import Decide
from boundcheck.proof.step import Fact, Step

READINGS = ("corrected",)

work, largest, W, eta_g = sp.symbols("work largest W eta_g", real=True)
top, own, other, ratio = sp.symbols("top own other ratio", real=True)

FACTS = (
    Fact("top", top > 0, "metric", "1/(4 beta L)"),
    Fact("own", sp.Eq(own, sp.Min(top, top / eta_g) / work), "metric", "eta_l and eta_g eta_l are at most top"),
    Fact(
        "other",
        sp.Eq(other, sp.Min(top, top / (W * eta_g)) / largest),
        "metric",
        "eta_l and W eta_g eta_l are at most top",
    ),
    Fact("ratio", sp.Eq(ratio * other, own), "metric", "FedShuffle's over the other's"),
)
SIZES = ("domain work", "domain largest", "domain W", "domain eta_g", "top")
STEPS = (
    Step("step own", sp.Eq(own * eta_g * work, top), ("own", *SIZES), Decide(), "eta_g >= 1"),
    Step(
        "step other",
        sp.Eq(other * eta_g * largest, top * sp.Min(eta_g, 1 / W)),
        ("other", *SIZES),
        Decide(),
        "eta_g times the minimum",
    ),
    Step("other > 0", other > 0, ("other", *SIZES), Decide(), "a minimum of positive numbers"),
    Step(
        "conclusion",
        sp.Eq(ratio, largest / (work * sp.Min(eta_g, 1 / W))),
        ("ratio", "step own", "step other", "other > 0", *SIZES),
        Decide(),
        "divided",
    ),
)


def derivation(statement: Any) -> Derivation:
    """The derivation of the corrected reading."""
    return Derivation(statement, (*scope_facts(statement), *FACTS), STEPS, conclusion="conclusion", target=ratio)
