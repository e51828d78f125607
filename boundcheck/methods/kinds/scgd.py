"""SCGD, and the methods with which its paper compares it.

S. Ma, "Semi-Cyclic Gradient Descent Outperforms Federated Averaging with Sufficiently Small Learning Rate", Algorithm 1
(SCGD), Section 2 and Appendix C (FedAvg; there the cohort is drawn uniformly). The ways to give the step size:
`methods.parameters.schedule_from`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.parameters import NOT_CLIPPED, client_optimizer_from, count, epochs_from, schedule_from
from boundcheck.methods.parts import Cyclic, Epochs, Full, GradientSteps, Participation, SumOne, Uniform


def scgd(
    *, E: Any, order: Sequence[int] | None = None, eta: Any = None, eta0: Any = None, ell: Any = None, T: Any = None
) -> dict[str, Any]:
    """SCGD: one device a round in a fixed order, E full local gradient steps each, no averaging.

    order: the visiting order as a permutation of 0..n-1 (default: natural).
    """
    return {
        "participation": Cyclic(None if order is None else tuple(order)),
        "local": GradientSteps(count(E, "E")),
        "schedule": schedule_from({"eta": eta, "eta0": eta0, "ell": ell, "T": T}),
    }


def fedavg(
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
    clip_l: Any = NOT_CLIPPED,
) -> dict[str, Any]:
    """FedAvg with E full local gradient steps; `size` clients a round at random (default: all clients).

    The clients of a cohort count alike, as in this paper; `fedavg_weighted` weighs them by their data.
    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientOptimizer`). Raises BadInput.
    """
    return {
        "participation": _cohort(size),
        "local": GradientSteps(count(E, "E")),
        "schedule": schedule_from({"eta": eta, "eta0": eta0, "rounds_per_cycle": rounds_per_cycle, "ell": ell, "T": T}),
        "client_optimizer": client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def fedavg_reshuffled(
    *,
    E: Any = 1,
    batch: Any = 1,
    size: Any = None,
    eta: Any = None,
    eta0: Any = None,
    rounds_per_cycle: Any = None,
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NOT_CLIPPED,
) -> dict[str, Any]:
    """FedAvg with E reshuffled local epochs, `batch` samples a step; `size` clients a round at random (default: all).

    E: see `methods.parameters.epochs_from`; a run with random epochs is no instance of the kind.
    momentum_l, weight_decay_l, clip_l: of the local steps (`ClientOptimizer`). Raises BadInput.
    """
    return {
        "participation": _cohort(size),
        "local": {"E": epochs_from(E), "batch": count(batch, "batch")},
        "schedule": schedule_from({"eta": eta, "eta0": eta0, "rounds_per_cycle": rounds_per_cycle}),
        "client_optimizer": client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def _cohort(size: Any) -> Participation:
    return Full() if size is None else Uniform(count(size, "size"))


def gradient_descent(*, eta: Any = None, eta0: Any = None) -> dict[str, Any]:
    """Gradient descent x <- x - eta grad F(x), F = sum of w_i f_i: clients count by their weights."""
    return {"participation": Full(), "schedule": schedule_from({"eta": eta, "eta0": eta0})}


KINDS = {
    "scgd": Kind(scgd, Form(Cyclic, GradientSteps)),
    "fedavg": Kind(fedavg, Form(Full, GradientSteps)),
    "fedavg_reshuffled": Kind(
        fedavg_reshuffled, Form(AnyOf(Full, Uniform), Part(Epochs, E=AnyOf(int, tuple), batch=anything))
    ),
    "gradient_descent": Kind(gradient_descent, Form(Full, GradientSteps(1), aggregation=SumOne())),
}
