"""What fits into the memory: the models that a run keeps, and how many visits at once."""

from __future__ import annotations

import os
from typing import Any

from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.passes import width_of
from boundcheck.engines.neural.task import Task
from boundcheck.engines.neural.training import AT_ONCE
from boundcheck.engines.sampled.lowering import Lowered
from boundcheck.errors import Unsupported
from boundcheck.problems.problem import Problem

__all__ = ["check_state", "lanes_that_fit"]

ON_CPU = 1 << 30  # bytes that the lanes of a chunk may take, about
SHARE = 0.4  # of a GPU's memory
COPIES = 8  # vectors that a lane holds: its point, gradients, products of the step
KEPT = 3  # numbers that a backward pass keeps for each that a layer returns, about


def _memory(task: Task) -> int | None:
    """Bytes of the device, or of the machine; None where the system does not say."""
    if task.device.type != "cpu":
        return int(library().cuda.get_device_properties(task.device).total_memory)
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Windows
        return None


def check_state(task: Task, seeds: int, parts: int) -> None:
    """Raises Unsupported where the vectors that a run keeps from round to round, `parts` for each seed, cannot fit."""
    # besides them a round needs the server's points before and after it
    size = (8 if task.dtype == library().float64 else 4) * task.network.dim * seeds * (parts + 2)
    memory = _memory(task)
    if memory is not None and size > 0.9 * memory:
        raise Unsupported(
            f"{parts} vectors of {task.network.dim} numbers for each of {seeds} seeds need {size} bytes, more than the "
            f"memory of {memory}; run fewer seeds, or fewer clients that keep models."
        )


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
    held = (COPIES + (lowered.rho > 0)) * task.network.dim  # a buffer of the local momentum besides
    each = (8 if task.dtype == library().float64 else 4) * (held + KEPT * width * batch)
    memory = ON_CPU if task.device.type == "cpu" else int(SHARE * (_memory(task) or 0))
    return max(1, min(memory // each, seeds * max(1, lowered.largest)))
