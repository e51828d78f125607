"""FedDANE: DANE with the mean gradient of one cohort and the local work of another.

T. Li et al., "FedDANE: A Federated Newton-Type Method", Algorithm 2. Its step 9 prints the mean over S_t; the devices
that solve, and over which the mean is taken here, are those of S'_t. The decayed and the pipelined variant are named in
Section V-C.
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods._feddane import decay_from, is_proximal, sized, solver_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Correction, Full

__all__ = ["build", "matches"]


def build(
    *,
    mu: Any,
    K: Any = None,
    participation: Any = "with_replacement",
    gradient_participation: Any = None,
    same: Any = False,
    solver: Any = "exact",
    decay: Any = "constant",
    pipelined: Any = False,
) -> Method:
    """FedDANE with cohorts of K clients.

    mu: a number, or one number a client (Theorem 7). participation: of S'_t, "with_replacement" (by weight, as the
    proofs take it), "uniform" (without replacement, as the released code draws) or as `methods._participation` says.
    gradient_participation: of S_t, by default the same law; it is drawn independently, or with `same` S_t = S'_t (as in
    the released code). solver: see `methods._feddane`. decay: of the correction, see there. pipelined: the gradients
    are those of the round before; S_t is then the cohort of that round. Raises BadInput and UnknownName.
    """
    for name, value in (("same", same), ("pipelined", pipelined)):
        if not isinstance(value, bool):
            raise BadInput(f"{name} = {value} is not allowed; it is true or false.")
    if (same or pipelined) and gradient_participation is not None:
        raise BadInput("a gradient_participation is for a cohort of its own, not with same or pipelined.")
    local, schedule = solver_from(mu, solver)
    cohort = sized(participation, K)
    own = cohort if gradient_participation is None else sized(gradient_participation, K)
    kind, factor = decay_from(decay)
    correction = Correction(None if same or pipelined else own, kind, factor, pipelined)
    return Method("feddane", cohort, local, schedule, correction=correction)


def matches(method: Method) -> bool:
    """Whether a composition is FedDANE without decay and pipeline, whatever its numbers, solver and cohorts.

    The gradient may also be that of F itself (as in DANE).
    """
    own = method.correction
    if own is None:
        return False
    whole = Correction(Full(), weights="data")
    return own in (Correction(own.participation), whole) and is_proximal(method, own)
