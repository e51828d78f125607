"""FedFix: the server aggregates after every window of length dt what has arrived within it.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
Section 4.4.
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.methods._asynchronous import Given, has_async_steps, has_own_weights, timed, weights_from
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Timed
from boundcheck.methods.schedules import Window

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    dt: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedFix-dt, K local steps on the model that the client received last.

    times: see `methods._asynchronous.times_from`; the slowest client of "f0" and "f80" takes the time 1. weights:
    "time_based", d_i = ceil(T_i/dt) p_i (40), "identical", d_i = 1, a number for all d_i or a list of them. A window
    that is long enough for all clients makes it synchronous FedAvg. batch: samples a step (default: full gradients).
    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling, sgd_from(momentum_l, weight_decay_l, clip_l))
    policy = Window(as_fraction(dt, "dt"))
    return timed("fedfix", times, policy, weights_from(weights), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedFix, whatever its times, window, weights and numbers."""
    return (
        isinstance(method.participation, Timed)
        and isinstance(method.participation.policy, Window)
        and has_own_weights(method.aggregation)
        and has_async_steps(method)
    )
