"""FedProx: local work on F_k(v) + mu/2 |v - x|^2, the server takes the plain mean.

T. Li et al., "FedDANE: A Federated Newton-Type Method", which compares with it (Section V), and T. Li et al.,
"Federated Optimization in Heterogeneous Networks", Algorithm 2. With mu = 0 and local steps it is FedAvg.
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods._feddane import is_proximal, sized, solver_from
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts.proximal import plain_work

__all__ = ["build", "matches"]


def build(
    *,
    mu: Any,
    E: Any = None,
    eta: Any = None,
    batch: Any = None,
    sampling: Any = None,
    participation: Any = "full",
    K: Any = None,
    solver: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedProx with E local epochs of step size eta, or with a `solver` (see `methods._feddane`).

    mu: a number, or one number a client. participation: "with_replacement" (by weight) or "uniform" for K clients, or
    as `methods._participation` says. momentum_l, weight_decay_l, clip_l: of local steps that have a step size
    (`ClientSGD`). Raises BadInput and UnknownName.
    """
    steps = {"E": E, "eta": eta, "batch": batch, "sampling": sampling}
    given = {k: v for k, v in steps.items() if v is not None}
    if solver is not None and given:
        raise BadInput(f"fedprox takes either a solver or {', '.join(given)}, not both.")
    local, schedule = solver_from(mu, given if solver is None else solver)
    sgd = sgd_from(momentum_l, weight_decay_l, clip_l)
    return Method("fedprox", sized(participation, K), plain_work(local), schedule, sgd=sgd)


def matches(method: Method) -> bool:
    """Whether a composition is FedProx with a proximal term, whatever its numbers, solver and participation."""
    return is_proximal(method, None)
