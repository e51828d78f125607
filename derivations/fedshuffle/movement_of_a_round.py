"""How far one round of FedShuffle moves the server's point, as a case of that of FedShuffleGen."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.weaker import from_general

READINGS = ("corrected",)

moved, drift_0, client_grad2_0, grad2_0 = sp.symbols("moved drift_0 client_grad2_0 grad2_0", real=True)
START = (("drift_0", drift_0), ("client_grad2_0", client_grad2_0), ("grad2_0", grad2_0))


def derivation(statement: Any) -> Derivation:
    """The derivation."""
    steps = from_general(statement, "fedshuffle/movement_of_a_round_gen/corrected", moved, START)
    return Derivation(statement, scope_facts(statement), steps, conclusion="conclusion", target=moved)
