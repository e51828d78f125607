"""What the adapters share: a run that remembers who took part, a model that is a point, and the local work."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

EPOCHS = 2  # of local work in every round, one sample a step


@dataclass
class Record:
    """Iterates after each round, and the clients of each round in the order in which the library visited them."""

    points: list[np.ndarray] = field(default_factory=list)
    cohorts: list[list[int]] = field(default_factory=list)


Run = Callable[[Any, int], Record]


def seed_all(seed: int) -> None:
    """Seed the generators that the libraries draw from."""
    random.seed(seed)
    np.random.seed(seed)


def size_of_cohort(task: Any) -> int:
    """How many clients take part in a round of the task's method."""
    return getattr(task.method.participation, "size", len(task.clients))


def local_steps(task: Any, client: Any, x: np.ndarray, mu: float = 0.0, shift: Any = 0.0) -> np.ndarray:
    """Local epochs from x along the gradient of f_i(y) + mu/2 |y - x|^2, plus `shift`."""
    eta = task.step_sizes[0]
    y = x.copy()
    for _ in range(EPOCHS):
        for sample in range(client.size):
            y = y - eta * (client.gradient(y, [sample]) + mu * (y - x) + shift)
    return y


class Point(torch.nn.Module):
    """A model that is a point x (d,), the start of a task at first; its output on any batch is x."""

    def __init__(self, task: Any) -> None:
        super().__init__()
        self.x = torch.nn.Parameter(task.torch().start)

    def forward(self, batch: Any) -> torch.Tensor:
        return self.x

    def numbers(self) -> np.ndarray:
        """x in float64, a copy."""
        return self.x.detach().numpy().astype(np.float64)


class Loss(torch.nn.Module):
    """The loss of a task at x; a batch's target has a row [client, sample] for each sample."""

    def __init__(self, task: Any) -> None:
        super().__init__()
        self.clients = task.torch().clients

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.clients[int(target[0, 0])].loss(x, target[:, 1].int().tolist())


def data_of(client: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs (m, 1), which are not used, and targets (m, 2) of the m samples of a client."""
    return torch.zeros(client.size, 1), torch.tensor([[client.index, j] for j in range(client.size)])


def batches_of(client: Any) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """The same, one sample a batch."""
    return [(x[None], y[None]) for x, y in zip(*data_of(client), strict=True)]
