"""What the adapters share: a run that remembers who took part, and the local steps of a client."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Record:
    """Iterates after each round, and the clients of each round in the order in which the library visited them."""

    points: list[np.ndarray] = field(default_factory=list)
    cohorts: list[list[int]] = field(default_factory=list)


def seed_all(seed: int) -> None:
    """Seed the generators that the libraries draw from."""
    random.seed(seed)
    np.random.seed(seed)


def size_of_cohort(task: Any) -> int:
    """How many clients take part in a round of the task's method."""
    return getattr(task.method.participation, "size", len(task.clients))


def local_steps(task: Any, client: Any, x: np.ndarray, mu: float) -> np.ndarray:
    """E epochs of one sample a step from x, on f_i(y) + mu/2 |y - x|^2."""
    eta = task.step_sizes[0]
    y = x.copy()
    for _ in range(int(task.parameters["E"])):
        for sample in range(client.size):
            y = y - eta * (client.gradient(y, [sample]) + mu * (y - x))
    return y
