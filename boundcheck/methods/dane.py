"""DANE and inexact DANE: every client works on F_k(v) + <grad F(x) - grad F_k(x), v - x> + mu/2 |v - x|^2.

T. Li et al., "FedDANE: A Federated Newton-Type Method", equation (2), Section III-B; the server takes the plain mean.
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods._feddane import is_proximal, solver_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Correction, Full

__all__ = ["build", "matches"]

_CORRECTION = Correction(Full(), weights="data")  # grad F itself


def build(*, mu: Any, steps: Any = None, eta: Any = None) -> Method:
    """DANE with exact solves; with `steps` gradient steps of size `eta` on the subproblem it is inexact DANE.

    mu: a number, or one number a client. Raises BadInput.
    """
    if (steps is None) != (eta is None):
        raise BadInput("inexact DANE needs both steps and eta; DANE, with exact solves, needs neither.")
    local, schedule = solver_from(mu, "exact" if steps is None else {"steps": steps, "eta": eta})
    return Method("dane", Full(), local, schedule, correction=_CORRECTION)


def matches(method: Method) -> bool:
    """Whether a composition is DANE, exact or not, whatever its numbers."""
    return method.participation == Full() and is_proximal(method, _CORRECTION)
