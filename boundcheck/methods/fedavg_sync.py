"""Synchronous FedAvg: every round waits for all clients, and averages their work by importance.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
Section 4.2.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, compose, has_async_steps, timed
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Full, Timed, Unbiased
from boundcheck.methods.schedules import WaitForAll

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    eta_g: Any = 1,
    batch: Any = None,
    sampling: Any = None,
    times: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedAvg with K local steps of all clients: x <- x + eta_g sum of p_i (y_i - x).

    batch: samples a step, drawn with replacement (default: full gradients). times: the clients' update times, which
    say how long a round takes. momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput
    and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling, sgd_from(momentum_l, weight_decay_l, clip_l))
    if times is None:
        return compose("fedavg_sync", Full(), Unbiased("data"), given)
    return timed("fedavg_sync", times, WaitForAll(), Unbiased("data"), given)


def matches(method: Method) -> bool:
    """Whether a composition is synchronous FedAvg, whatever its numbers; FedFix with a window for all is."""
    whole = method.participation
    full = isinstance(whole, Full) or (isinstance(whole, Timed) and whole.always_full)
    return full and method.aggregation == Unbiased("data") and has_async_steps(method) and method.exchange is None
