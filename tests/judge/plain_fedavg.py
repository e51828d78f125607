"""FedAvg in plain NumPy as a stranger writes it, and seven wrong copies of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundcheck.judge.task import Task


def fedavg(
    task: Task,
    seed: int,
    weights: Any = None,
    steps: int = 0,
    factor: Any = 1.0,
    doubled: int = -1,
) -> list[Any]:
    """K local gradient steps of every client, then the weighted average of their models."""
    w = task.weights if weights is None else np.asarray(weights)
    x, points = task.start, list[Any]()
    for r in range(task.rounds):
        models: list[Any] = []
        for i, client in enumerate(task.clients):
            y = x
            for _ in range(int(task.parameters["K"]) + steps):
                lr = task.step_sizes[r] * factor * (2 if i == doubled else 1)
                y = y - lr * client.gradient(y)
            models.append(y)
        x = sum(wi * y for wi, y in zip(w, models, strict=True))
        points.append(x)
    return points


def _with(**wrong: Any) -> Any:
    return lambda task, seed: fedavg(task, seed, **wrong)


BUGS: dict[str, Any] = {
    "unweighted": lambda task, seed: fedavg(task, seed, weights=np.full(len(task.clients), 1 / len(task.clients))),
    "weights swapped": lambda task, seed: fedavg(
        task, seed, weights=task.weights[[1, 0, *range(2, len(task.clients))]]
    ),
    "one client with doubled step": _with(doubled=1),
    "one step fewer": _with(steps=-1),
    "lr/2": _with(factor=0.5),
    "lr x 3": _with(factor=3.0),
    "weights that sum to 1.01": lambda task, seed: fedavg(task, seed, weights=task.weights * 1.01),
}
LOOKS_LIKE = {
    "unweighted": "uniform weights",
    "weights swapped": "weights 0 and 1 swapped",
    "one client with doubled step": "step size of client 1 times 2",
    "one step fewer": "one local step fewer",
    "lr/2": "local step size times 1/2",
    "lr x 3": "local step size times 3",
    "weights that sum to 1.01": "models averaged with weights that sum to 101/100",
}
