"""Periodic averaging (local SGD): after every tau-th step of the workers, their whole models are averaged.

Equation (3) of S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance
Guarantees and Benefits". The averaging after steps tau, 2 tau, ... makes it FedAvg with tau local steps, seen after
every step.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._averaging import averaging, hand_over_from, is_averaging
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks

__all__ = ["build", "matches"]


def build(
    *,
    tau: Any,
    eta: Any,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
    hand_over: Any = None,
) -> Method:
    """Periodic averaging with interval tau and step size eta; see `partial_averaging` for the parameters.

    Raises BadInput and UnknownName.
    """
    exchange = Blocks(count(tau, "tau"), "whole", None, weights, hand_over_from(hand_over))
    return averaging("periodic_averaging", exchange, eta, batch, gradient, sgd_from(momentum_l, weight_decay_l, clip_l))


def matches(method: Method) -> bool:
    """Whether a composition is periodic averaging, whatever its numbers."""
    exchange = method.exchange
    return (
        is_averaging(method) and isinstance(exchange, Blocks) and (exchange.partition == "whole" or exchange.tau == 1)
    )
