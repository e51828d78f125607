"""FedAvg with full local gradients: the cohort does E steps each, the server takes the plain average.

As described in Section 2 and Appendix C of S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated
Averaging with Sufficiently Small Learning Rate" (there the cohort is drawn uniformly).
"""

from __future__ import annotations

from typing import Any

from boundcheck.methods._steps import NONE, count, schedule_from, sgd_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import Average, Full, GradientSteps, ServerStep, Uniform

__all__ = ["build", "matches"]


def build(
    *,
    E: Any,
    size: Any = None,
    eta: Any = None,
    eta0: Any = None,
    rounds_per_cycle: Any = None,
    ell: Any = None,
    T: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NONE,
) -> Method:
    """FedAvg with E full local gradient steps; `size` clients a round at random (default: all clients).

    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientSGD`). Raises BadInput.
    """
    steps = {"eta": eta, "eta0": eta0, "rounds_per_cycle": rounds_per_cycle, "ell": ell, "T": T}
    cohort = Full() if size is None else Uniform(count(size, "size"))
    work, sgd = GradientSteps(count(E, "E")), sgd_from(momentum_l, weight_decay_l, clip_l)
    return Method("fedavg", cohort, work, schedule_from(steps), sgd=sgd)


def matches(method: Method) -> bool:
    """Whether a composition is FedAvg with full participation and full gradients, whatever its numbers."""
    return (
        isinstance(method.participation, Full)
        and isinstance(method.local, GradientSteps)
        and isinstance(method.aggregation, Average)
        and method.server == ServerStep()
        and method.is_plain
    )
