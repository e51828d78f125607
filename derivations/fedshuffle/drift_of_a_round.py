"""The drift of one round of FedShuffle by the clients' gradients, as a case of that of FedShuffleGen."""

from __future__ import annotations

from typing import Any

import sympy as sp

from boundcheck.proof.derivation import Derivation, scope_facts
from boundcheck.proof.weaker import from_general

READINGS = ("corrected",)

drift, client_grad2_0 = sp.symbols("drift client_grad2_0", real=True)


def derivation(statement: Any) -> Derivation:
    """The derivation; the condition on the local step is the statement's."""
    general = "fedshuffle/drift_of_a_round_gen/corrected"
    steps = from_general(statement, general, drift, (("client_grad2_0", client_grad2_0),))
    return Derivation(statement, scope_facts(statement), steps, conclusion="conclusion", target=drift)
