"""Asynchronous FedAvg: the server aggregates whenever a client delivers, and sends the new model to that client.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
Section 4.3.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, has_async_steps, has_own_weights, ties_from, timed, weights_from
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Stale, Timed
from boundcheck.methods.schedules import FirstToArrive

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    ties: Any = "one_by_one",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedAvg on arrival, K local steps on the model that the client received last.

    times: see `methods._asynchronous.times_from`. weights: "time_based", d_i = (sum of 1/T_j) T_i p_i (36),
    "identical", d_i = 1, a number for all d_i or a list of them. ties: clients that finish together are a round each
    ("one_by_one") or one cohort ("joint"). batch: samples a step, drawn with replacement (default: full gradients).
    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling, sgd_from(momentum_l, weight_decay_l, clip_l))
    policy = FirstToArrive(ties_from(ties))
    return timed("fedavg_async", times, policy, weights_from(weights), given)


def matches(method: Method) -> bool:
    """Whether a composition is asynchronous FedAvg, whatever its times, ties, weights and numbers."""
    return (
        isinstance(method.participation, Timed)
        and isinstance(method.participation.policy, FirstToArrive)
        and isinstance(method.exchange, Stale)
        and has_own_weights(method.aggregation)
        and has_async_steps(method)
    )
