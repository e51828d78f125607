"""FedAvgMean: all clients of a cohort take the mean of their numbers of local steps, rounded (FedShuffle, Section 6).

Equal work removes the objective inconsistency of FedAvg. The paper draws samples with replacement on its quadratics and
reshuffles (an epoch cut short) on real data.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._family import Common, equal_steps, is_equal_steps
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method

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
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedAvgMean with local step size eta_l; E local epochs are what a client plans. sampling: "replacement" or
    "reshuffled".

    E, participation, momentum: see `methods._family`. weight_decay_l, clip_l: of the local steps (`ClientSGD`).
    Raises BadInput and UnknownName.
    """
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(0, weight_decay_l, clip_l))
    return equal_steps("mean", given, E, batch, sampling)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvgMean without momentum, whatever its numbers."""
    return is_equal_steps(method, "mean")
