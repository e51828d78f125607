"""The drift of one round of FedShuffle by the clients' gradients, as a case of that of FedShuffleGen."""

from __future__ import annotations

from typing import Any

from boundcheck.proof.proof import Proof, symbols

READINGS = ("corrected",)
drift, client_grad2_0 = symbols("drift client_grad2_0")


def derivation(statement: Any) -> Any:
    """The derivation; the condition on the local step is the statement's."""
    p = Proof(statement, drift)
    p.from_general("drift_of_a_round_gen/corrected", drift, client_grad2_0=client_grad2_0)
    return p.done()
