"""What the methods share whose workers keep models that are averaged, from what users write in a specification.

S. Lee, A. K. Sahu, C. He, S. Avestimehr, "Partial Model Averaging in Federated Learning: Performance Guarantees and
Benefits", Algorithm 1, equation (3) and Section 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from boundcheck.core.numbers import as_fraction
from boundcheck.errors import BadInput, UnknownName
from boundcheck.methods._steps import count, step_from
from boundcheck.methods.method import Method
from boundcheck.methods.parts import (
    Average,
    Blocks,
    ClientSGD,
    Full,
    GradientSteps,
    HandOver,
    LocalWork,
    ServerStep,
    StochasticSteps,
)

__all__ = ["GRADIENTS", "averaging", "hand_over_from", "is_averaging", "whole_numbers"]

GRADIENTS = ("sample", "full")
_HAND_OVER = ("active", "every", "design")


def averaging(name: str, exchange: Blocks, eta: Any, batch: Any, gradient: Any, sgd: ClientSGD | None) -> Method:
    """Every worker takes one step from its own model, then models are averaged as the exchange says.

    gradient: "sample" (of `batch` samples drawn with replacement) or "full". sgd: how steps differ from plain ones.
    Raises BadInput and UnknownName.
    """
    if gradient not in GRADIENTS:
        raise UnknownName("the gradient of a local step", str(gradient), GRADIENTS)
    if gradient == "full" and count(batch, "batch") != 1:
        raise BadInput('a step with gradient = "full" takes all samples; leave batch out.')
    local: LocalWork = GradientSteps(1) if gradient == "full" else StochasticSteps(1, count(batch, "batch"))
    return Method(name, Full(), local, step_from(eta, "eta"), exchange=exchange, sgd=sgd)


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


def whole_numbers(values: Any, name: str) -> tuple[int, ...]:
    """A list of the numbers 0, 1, 2, ..., or BadInput."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput(f"{name} must be a list of integers from 0 on.")
    found = [as_fraction(v, name) for v in values]
    if any(v.denominator != 1 or v < 0 for v in found):
        raise BadInput(f"{name} must be a list of integers from 0 on.")
    return tuple(int(v) for v in found)


def is_averaging(method: Method) -> bool:
    """Whether every worker takes one step from its own model, and models are averaged, whatever the pattern."""
    local = method.local
    one_step = local == GradientSteps(1) or (isinstance(local, StochasticSteps) and local.steps == 1)
    return (
        isinstance(method.exchange, Blocks)
        and one_step
        and method.participation == Full()
        and method.aggregation == Average()
        and method.server == ServerStep()
        and method.momentum is None
        and method.correction is None
    )
