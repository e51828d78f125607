"""FedAvgMin: all clients of a cohort take the least of their numbers of local steps (FedShuffle, Section 6).

Equal work removes the objective inconsistency of FedAvg. The paper draws samples with replacement on its quadratics and
reshuffles (an epoch cut short) on real data.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._family import Common, compose, epochs_from, is_epochs
from boundcheck.methods._steps import count
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, SumOne

__all__ = ["build", "matches"]


def build(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    sampling: Any = "replacement",
    participation: Any = "full",
    momentum: Any = None,
) -> Method:
    """FedAvgMin with local step size eta_l; E local epochs are what a client plans. sampling: "replacement" or
    "reshuffled".

    E, participation, momentum: see `methods._family`. Raises BadInput and UnknownName.
    """
    local = Epochs(epochs_from(E), count(batch, "batch"), sampling=sampling, common="min")
    return compose("fedavg_min", local, SumOne(), Common(eta_l, eta_g, participation, momentum))


def matches(method: Method) -> bool:
    """Whether a composition is FedAvgMin without momentum, whatever its numbers."""
    either = any(is_epochs(method, sampling=s, common="min") for s in ("replacement", "reshuffled"))
    return either and method.aggregation == SumOne()
