"""FedShuffle with FedAvg's aggregation w_i / sum over S of w_j, which biases it (FedShuffle, Section 4.2)."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._family import Common, compose, epochs_from, is_epochs
from boundcheck.methods._steps import NONE, count, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, SumOne

__all__ = ["build", "matches"]


def build(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    momentum: Any = None,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedShuffle's local work (step size eta_l/|D_i|) with the aggregation whose weights sum to 1.

    E, participation, momentum: see `methods._family`. weight_decay_l, clip_l: of the local steps (`ClientSGD`).
    Raises BadInput and UnknownName.
    """
    local = Epochs(epochs_from(E), count(batch, "batch"), divide="size")
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(0, weight_decay_l, clip_l))
    return compose("fedshuffle_sum_one", local, SumOne(), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedShuffle with Sum-One aggregation, whatever its numbers and participation."""
    return is_epochs(method, divide="size") and method.aggregation == SumOne()
