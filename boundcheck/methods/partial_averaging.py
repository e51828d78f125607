"""Partial model averaging: after every step of the workers, one of tau blocks of their models is averaged.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits", Algorithm 1; with client selection as in Section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.errors import BadInput
from boundcheck.methods._averaging import averaging, hand_over_from, is_averaging, whole_numbers
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks

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
    hand_over: Any = None,
) -> Method:
    """Partial averaging with interval tau and step size eta.

    partition: "even", "layer" or "channel" (of a network, engine = "neural") or tau lists of coordinates. order: which
    block is averaged first, second, ... (default natural). weights: "uniform" or "data". batch, gradient: see
    `methods._averaging`. momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). hand_over: {active,
    every, design}.
    Raises BadInput and UnknownName.
    """
    blocks: str | tuple[tuple[int, ...], ...]
    if isinstance(partition, str):
        blocks = partition
        if partition == "whole":
            raise BadInput('partition = "whole" is periodic averaging, the method kind "periodic_averaging".')
    elif isinstance(partition, Sequence):
        blocks = tuple(whole_numbers(b, "a block of the partition") for b in partition)
    else:
        raise BadInput('partition must be "even", "layer", "channel" or a list of tau lists of coordinates.')
    visiting = None if order is None else whole_numbers(order, "order")
    exchange = Blocks(count(tau, "tau"), blocks, visiting, weights, hand_over_from(hand_over))
    return averaging("partial_averaging", exchange, eta, batch, gradient, sgd_from(momentum_l, weight_decay_l, clip_l))


def matches(method: Method) -> bool:
    """Whether a composition is partial averaging; with tau = 1 it averages all coordinates after every step."""
    exchange = method.exchange
    return (
        is_averaging(method) and isinstance(exchange, Blocks) and (exchange.partition != "whole" or exchange.tau == 1)
    )
