"""Methods whose workers keep models of their own that are averaged, wholly or block by block.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits", Algorithm 1 (partial averaging), equation (3) (periodic averaging, local SGD) and Section 4 (synchronous SGD;
client selection). Every worker takes one step from its own model, then models are averaged.

Parameters that several kinds share: tau: the interval within which every coordinate is averaged. eta: see
`methods.parameters.step_from`. weights: of the average, "uniform" or "data". gradient: "sample" (the mean over `batch`
samples drawn with replacement) or "full". momentum_l, weight_decay_l, clip_l: of the local steps (`ClientOptimizer`).
hand_over: {active, every, design}, see `HandOver`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods.kind import AnyOf, Form, Kind, Part, anything
from boundcheck.methods.parameters import NOT_CLIPPED, client_optimizer_from, count, step_from, whole_numbers
from boundcheck.methods.parts import Blocks, Constant, Full, GradientSteps, HandOver, StochasticSteps

GRADIENTS = ("sample", "full")
_HAND_OVER = ("active", "every", "design")


def partial_averaging(
    *,
    tau: Any,
    eta: Any,
    partition: Any = "even",
    order: Any = None,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NOT_CLIPPED,
    hand_over: Any = None,
) -> dict[str, Any]:
    """Partial averaging: after every step of the workers, one of tau blocks of their models is averaged.

    partition: "even", "layer" or "channel" (of a network, engine = "neural") or tau lists of coordinates. order: which
    block is averaged first, second, ... (default natural). Raises BadInput and UnknownName.
    """
    blocks: str | tuple[tuple[int, ...], ...]
    if isinstance(partition, str):
        blocks = partition
        if partition == "whole":
            raise BadInput('partition = "whole" is periodic averaging, the method kind "periodic_averaging".')
    elif isinstance(partition, Sequence):
        blocks = tuple(whole_numbers(b, "a block of the partition") for b in partition)
    else:
        raise BadInput('partition must be "even", "layer", "channel" or a list of tau lists of coordinates.')
    visiting = None if order is None else whole_numbers(order, "order")
    exchange = Blocks(count(tau, "tau"), blocks, visiting, weights, hand_over_from(hand_over))
    return {"exchange": exchange, **_steps(eta, batch, gradient, momentum_l, weight_decay_l, clip_l)}


def periodic_averaging(
    *,
    tau: Any,
    eta: Any,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NOT_CLIPPED,
    hand_over: Any = None,
) -> dict[str, Any]:
    """Periodic averaging (local SGD): after every tau-th step of the workers, their whole models are averaged.

    The averaging after steps tau, 2 tau, ... makes it FedAvg with tau local steps, seen after every step. Raises
    BadInput and UnknownName.
    """
    exchange = Blocks(count(tau, "tau"), "whole", None, weights, hand_over_from(hand_over))
    return {"exchange": exchange, **_steps(eta, batch, gradient, momentum_l, weight_decay_l, clip_l)}


def sync_sgd(
    *,
    eta: Any,
    weights: Any = "data",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NOT_CLIPPED,
) -> dict[str, Any]:
    """Synchronous SGD: the workers' models are averaged after every step, so that they never differ.

    It is partial and periodic averaging with tau = 1. By default the workers count by their weights in F, so that a
    step follows an unbiased estimate of grad F. Raises BadInput and UnknownName.
    """
    exchange = Blocks(1, "whole", None, weights)
    return {"exchange": exchange, **_steps(eta, batch, gradient, momentum_l, weight_decay_l, clip_l)}


def block_averaging(
    *,
    tau: Any,
    eta: Any,
    partition: Any = "even",
    order: Any = None,
    weights: Any = "uniform",
    batch: Any = 1,
    gradient: Any = "sample",
    momentum_l: Any = 0,
    weight_decay_l: Any = 0,
    clip_l: Any = NOT_CLIPPED,
) -> dict[str, Any]:
    """Any averaging that meets every coordinate within tau steps, which is what the paper's theorems are about.

    "As long as the entire parameters are synchronized at least once within tau iterations", whatever the partition and
    the order: partial averaging, or with partition = "whole" periodic averaging. Raises BadInput and UnknownName.
    """
    steps: dict[str, Any] = {"eta": eta, "weights": weights, "batch": batch, "gradient": gradient}
    steps |= {"momentum_l": momentum_l, "weight_decay_l": weight_decay_l, "clip_l": clip_l}
    if partition != "whole":
        parts = partial_averaging(tau=tau, partition=partition, order=order, **steps)
        return {**parts, "name": "partial_averaging"}
    if order is not None:
        raise BadInput('partition = "whole" is one block, which has no order; leave order out.')
    return {**periodic_averaging(tau=tau, **steps), "name": "periodic_averaging"}


def _steps(eta: Any, batch: Any, gradient: Any, momentum_l: Any, weight_decay_l: Any, clip_l: Any) -> dict[str, Any]:
    """The one local step of a round. Raises BadInput and UnknownName."""
    if gradient not in GRADIENTS:
        raise UnknownName("the gradient of a local step", str(gradient), GRADIENTS)
    if gradient == "full" and count(batch, "batch") != 1:
        raise BadInput('a step with gradient = "full" takes all samples; leave batch out.')
    return {
        "local": GradientSteps(1) if gradient == "full" else StochasticSteps(1, count(batch, "batch")),
        "schedule": step_from(eta, "eta"),
        "client_optimizer": client_optimizer_from(momentum_l, weight_decay_l, clip_l),
    }


def hand_over_from(given: Any) -> HandOver | None:
    """{active = 32, every = 110, design = 2}: how many clients hold a model, and after how many rounds others do."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise BadInput("hand_over is written {active = 2, every = 10, design = 2}.")
    for key in given:
        if key not in _HAND_OVER:
            raise UnknownName("the hand-over: parameter", str(key), _HAND_OVER)
    for key in _HAND_OVER[:2]:
        if key not in given:
            raise BadInput(f"the hand-over needs '{key}'.")
    design: Any = count(given.get("design", 2), "design")  # the part refuses what is neither 1 nor 2
    return HandOver(count(given["active"], "active"), count(given["every"], "every"), design)


_FREE = {"order": anything, "weights": anything}
_FREE_WITH_HAND_OVER = {**_FREE, "hand_over": anything}
_EVERY_STEP = Part(Blocks, tau=1, partition=anything, **_FREE_WITH_HAND_OVER)
_WHOLE = Part(Blocks, partition="whole", **_FREE_WITH_HAND_OVER)


def _is_cut(partition: Any) -> bool:
    return partition != "whole"


def _form(exchange: Any, schedule: Any = anything) -> Form:
    """All workers take one step from their own models, which the exchange averages."""
    one_step = AnyOf(GradientSteps(1), Part(StochasticSteps, steps=1, batch=anything))
    return Form(Full(), one_step, schedule, exchange=exchange)


_BY_BLOCKS = Part(Blocks, partition=_is_cut, **_FREE_WITH_HAND_OVER)
KINDS = {
    "partial_averaging": Kind(partial_averaging, _form(AnyOf(_BY_BLOCKS, _EVERY_STEP))),
    "periodic_averaging": Kind(periodic_averaging, _form(AnyOf(_WHOLE, _EVERY_STEP))),
    "sync_sgd": Kind(sync_sgd, _form(_EVERY_STEP)),
    "block_averaging": Kind(block_averaging, _form(Part(Blocks, partition=anything, **_FREE), Constant)),
}
