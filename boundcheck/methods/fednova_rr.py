"""FedNovaRR: reshuffled local epochs; differences are divided by the number of steps.

FedShuffle, Appendix E.2: the case wtilde_i proportional to w_i/(E_i |D_i|) of FedShuffleGen with c = max E_j |D_j| and
q_i^S = p_i, so that the method minimises the true objective.
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._family import Common, is_nova, nova
from boundcheck.methods._steps import NONE, sgd_from
from boundcheck.methods.method import Method

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
    """The method with step size eta_l/c a local step, c the most local steps that any client takes.

    E, participation, momentum: see `methods._family`. weight_decay_l, clip_l: of the local steps (`ClientSGD`).
    Raises BadInput and UnknownName.
    """
    given = Common(eta_l, eta_g, participation, momentum, sgd_from(0, weight_decay_l, clip_l))
    return nova("fednova_rr", "reshuffled", given, E, batch)


def matches(method: Method) -> bool:
    """Whether a composition is this method without momentum, whatever its numbers and participation."""
    return is_nova(method, "reshuffled")
