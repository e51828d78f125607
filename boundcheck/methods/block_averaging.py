"""Any averaging of the workers' models that meets every coordinate within tau steps: what the theorems are about.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits": "as long as the entire parameters are synchronized at least once within tau iterations", whatever the
partition and the order. Partial averaging, periodic averaging and synchronous SGD are cases of it.
"""

from __future__ import annotations

from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods import partial_averaging, periodic_averaging
from boundcheck.methods._averaging import is_averaging
from boundcheck.methods._steps import NONE
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks, Constant

__all__ = ["build", "matches"]


def build(
    *,
    tau: Any,
    eta: Any,
    partition: Any = "even",
    order: Any = None,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """Partial averaging, or with partition = "whole" periodic averaging; see `partial_averaging` for the parameters.

    Raises BadInput and UnknownName.
    """
    if partition == "whole":
        if order is not None:
            raise BadInput('partition = "whole" is one block, which has no order; leave order out.')
        return periodic_averaging.build(
            tau=tau, eta=eta, weights=weights, batch=batch, gradient=gradient, momentum_l=momentum_l,
            weight_decay_l=weight_decay_l, clip_l=clip_l,
        )  # fmt: skip
    return partial_averaging.build(
        tau=tau, eta=eta, partition=partition, order=order, weights=weights, batch=batch, gradient=gradient,
        momentum_l=momentum_l, weight_decay_l=weight_decay_l, clip_l=clip_l,
    )  # fmt: skip


def matches(method: Method) -> bool:
    """Whether every client takes part with one step of constant size, and no models are handed over."""
    exchange = method.exchange
    return (
        is_averaging(method)
        and isinstance(exchange, Blocks)
        and exchange.hand_over is None
        and isinstance(method.schedule, Constant)
    )
