"""FedShuffle: reshuffled local epochs, a local step size divided by |D_i|, and the unbiased aggregation w_i/p_i.

S. Horvath et al., "FedShuffle: Recipes for Better Use of Local Work in Federated Learning", Algorithms 1 and 3 (with
the sign that makes the server descend; `sign = "printed"` is the printed one, which ascends).
"""

from __future__ import annotations

from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import UnknownName
from boundcheck.methods._participation import participation_from
from boundcheck.methods._steps import NONE, count, sgd_from, step_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Epochs, ServerStep, Unbiased

__all__ = ["build", "matches"]

SIGNS = ("corrected", "printed")


def build(
    *,
    eta_l: Any,
    eta_g: Any = 1,
    E: Any = 1,
    batch: Any = 1,
    participation: Any = "full",
    sign: str = "corrected",
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedShuffle with E local epochs of step size eta_l/|D_i| and server step eta_g.

    batch: samples a local step (|D_i| is then the number of steps of an epoch). participation: see
    `methods._participation`. weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput and UnknownName.
    """
    if sign not in SIGNS:
        raise UnknownName("the sign of the server step", sign, SIGNS)
    return Method(
        "fedshuffle",
        participation_from(participation),
        Epochs(count(E, "E"), count(batch, "batch"), divide="size"),
        step_from(eta_l, "eta_l"),
        Unbiased(),
        ServerStep(as_fraction(eta_g, "eta_g"), sign == "printed"),
        sgd=sgd_from(0, weight_decay_l, clip_l),
    )


def matches(method: Method) -> bool:
    """Whether a composition is FedShuffle (Algorithm 1: one sample a step), whatever its numbers and participation."""
    local = method.local
    return (
        isinstance(local, Epochs)
        and isinstance(local.E, int)
        and local == Epochs(local.E, divide="size")
        and method.aggregation == Unbiased()
        and not method.server.ascend
        and method.is_plain
    )
