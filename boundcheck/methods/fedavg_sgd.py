"""FedAvg whose local steps draw samples with replacement (FedShuffle, Section 6 and Table 4: "FedAvg")."""

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
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedAvg: as many steps as E local epochs have, every sample of a step drawn anew.

    E, participation, momentum (of the server): see `methods._family`. momentum_l, weight_decay_l, clip_l: of the local
    steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(momentum_l, weight_decay_l, clip_l))
    local = Epochs(epochs_from(E), count(batch, "batch"), sampling="replacement")
    return compose("fedavg_sgd", local, SumOne(), given)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with samples drawn with replacement, whatever its numbers."""
    return is_epochs(method, sampling="replacement") and method.aggregation == SumOne()
