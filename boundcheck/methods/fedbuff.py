"""FedBuff: the server aggregates as soon as it has the work of m different clients.

Y. Fraboni et al., "A General Theory for Federated Optimization with Asynchronous and Heterogeneous Clients Updates",
end of Section 4.4, after J. Nguyen et al., "Federated Learning with Buffered Asynchronous Aggregation".
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._asynchronous import Given, has_async_steps, has_own_weights, ties_from, timed, weights_from
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Stale, Timed
from boundcheck.methods.schedules import Buffer

__all__ = ["build", "matches"]


def build(
    *,
    K: Any,
    eta_l: Any,
    times: Any,
    m: Any,
    eta_g: Any = 1,
    weights: Any = "time_based",
    ties: Any = "one_by_one",
    batch: Any = None,
    sampling: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedBuff with a buffer of m updates, K local steps on the model that the client received last.

    A client that has delivered waits for the aggregation. times, weights, ties, batch: as of `fedavg_async`;
    "time_based" weights are p_i over the client's share of the rounds of a period, which the paper leaves open.
    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    given = Given(K, eta_l, eta_g, batch, sampling, sgd_from(momentum_l, weight_decay_l, clip_l))
    policy = Buffer(count(m, "m"), ties_from(ties))
    return timed("fedbuff", times, policy, weights_from(weights), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedBuff, whatever its times, buffer, weights and numbers."""
    return (
        isinstance(method.participation, Timed)
        and isinstance(method.participation.policy, Buffer)
        and isinstance(method.exchange, Stale)
        and has_own_weights(method.aggregation)
        and has_async_steps(method)
    )
