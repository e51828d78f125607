"""How many visits fit into the memory at once."""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.passes import width_of
from boundcheck.engines.neural.task import Task
from boundcheck.engines.neural.training import AT_ONCE
from boundcheck.engines.sampled.lowering import Lowered
from boundcheck.problems.problem import Problem

__all__ = ["lanes_that_fit"]

ON_CPU = 1 << 30  # bytes that the lanes of a chunk may take, about
SHARE = 0.4  # of a GPU's memory
COPIES = 8  # vectors that a lane holds: its point, gradients, products of the step
KEPT = 3  # numbers that a backward pass keeps for each that a layer returns, about


def lanes_that_fit(task: Task, problem: Problem, lowered: Lowered, seeds: int) -> int:
    """Lanes of about the memory that is meant for them; the same on equal devices, whatever else these do now."""
    from boundcheck.engines.neural.lower import architecture_of

    architecture: Any = architecture_of(problem)
    inputs = 1
    for side in task.inputs.shape[1:]:
        inputs *= int(side)
    width = 32 * inputs if architecture is None else width_of(architecture)
    whole = lowered.whole or lowered.momentum is not None or lowered.correction is not None
    batch = min(task.known.largest, max(lowered.batch, AT_ONCE if whole else 1))
    each = (8 if task.dtype == library().float64 else 4) * (COPIES * task.network.dim + KEPT * width * batch)
    memory = ON_CPU
    if task.device.type != "cpu":
        memory = int(SHARE * library().cuda.get_device_properties(task.device).total_memory)
    return max(1, min(memory // each, seeds * max(1, lowered.largest)))
