"""Synchronous SGD: the workers' models are averaged after every step, so that they never differ.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits", Section 4; partial and periodic averaging with tau = 1.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._averaging import averaging, is_averaging
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Blocks

__all__ = ["build", "matches"]


def build(
    *,
    eta: Any,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """Synchronous SGD with step size eta; the other parameters: see `partial_averaging`.

    Raises BadInput and UnknownName.
    """
    sgd = sgd_from(momentum_l, weight_decay_l, clip_l)
    return averaging("sync_sgd", Blocks(1, "whole", None, weights), eta, batch, gradient, sgd)


def matches(method: Method) -> bool:
    """Whether a composition is synchronous SGD, whatever its step size."""
    return is_averaging(method) and isinstance(method.exchange, Blocks) and method.exchange.tau == 1
