"""FedAvg whose clients do E reshuffled epochs of small-batch steps; the server takes the plain average."""

from __future__ import annotations

from typing import Any

from boundcheck.methods._steps import NONE, count, schedule_from, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Epochs, Full, ServerStep, Uniform

__all__ = ["build", "matches"]


def build(
    *,
    E: Any = 1,
    batch: Any = 1,
    size: Any = None,
    eta: Any = None,
    eta0: Any = None,
    rounds_per_cycle: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """E reshuffled epochs with `batch` samples a step; `size` clients a round at random (default: all).

    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput.
    """
    steps = {"eta": eta, "eta0": eta0, "rounds_per_cycle": rounds_per_cycle}
    cohort = Full() if size is None else Uniform(count(size, "size"))
    local = Epochs(count(E, "E"), count(batch, "batch"))
    sgd = sgd_from(momentum_l, weight_decay_l, clip_l)
    return Method("fedavg_reshuffled", cohort, local, schedule_from(steps), sgd=sgd)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with reshuffled local epochs, whatever its numbers."""
    return (
        isinstance(method.participation, Full | Uniform)
        and isinstance(method.local, Epochs)
        and method.local == Epochs(method.local.E, method.local.batch)
        and isinstance(method.aggregation, Average)
        and method.server == ServerStep()
        and method.is_plain
    )
