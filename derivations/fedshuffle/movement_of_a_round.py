"""How far one round of FedShuffle moves the server's point, as a case of that of FedShuffleGen."""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, symbols

READINGS = ("corrected",)
moved, drift_0, client_grad2_0, grad2_0 = symbols("moved drift_0 client_grad2_0 grad2_0")


def derivation(statement: Any) -> Any:
    """The derivation."""
    p = Proof(statement, moved)
    p.from_general("movement_of_a_round_gen/corrected", moved, drift_0=drift_0, client_grad2_0=client_grad2_0,
        grad2_0=grad2_0)
    return p.done()
