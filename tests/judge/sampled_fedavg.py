"""FedAvg with sampled cohorts, and FedShuffle, as a stranger writes them, and wrong copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boundcheck.judge.task import Task

Run = Callable[[Task, int], list[Any]]


def shuffled(
    weights: str = "unbiased",
    samples: str = "reshuffled",
    size: int = 2,
    divided: bool = True,
    models: bool = False,
) -> Run:
    """Two clients a round, an epoch each with step size eta_l/|D_i|, and differences with weights w_i/p_i."""

    def run(task: Task, seed: int) -> list[Any]:
        rng, x, points = task.generator(seed), task.start, list[Any]()
        n = len(task.clients)
        for r in range(task.rounds):
            cohort, total = rng.choice(n, size=size, replace=False), np.zeros(task.dimension)
            mass = sum(task.clients[i].weight for i in cohort)
            for i in cohort:
                client, y = task.clients[i], x
                order = rng.permutation(client.size)
                if samples == "replacement":
                    order = rng.integers(client.size, size=client.size)
                for j in order:
                    step = task.step_sizes[r] / (client.size if divided else 1)
                    y = y - step * client.gradient(y, [j])
                share = {"unbiased": client.weight * n / 2, "data": client.weight, "uniform": 1 / 2}
                total += (client.weight / mass if weights == "sum one" else share[weights]) * (y if models else y - x)
            x = total if models else x + total
            points.append(x)
        return points

    return run


def averaged(again: bool = False, shift: int = 0) -> Run:
    """Two clients a round, K whole gradients each, and differences with weights w_i/p_i; shift: of the seeds."""

    def run(task: Task, seed: int) -> list[Any]:
        rng, x, points = task.generator(seed + shift), task.start, list[Any]()
        n = len(task.clients)
        for r in range(task.rounds):
            total = np.zeros(task.dimension)
            for i in rng.choice(n, size=2, replace=again):
                y = x
                for _ in range(int(task.parameters["K"])):
                    y = y - task.step_sizes[r] * task.clients[i].gradient(y)
                total += task.clients[i].weight * n / 2 * (y - x)
            x = x + total
            points.append(x)
        return points

    return run


BUGS: dict[str, dict[str, Any]] = {
    "clients drawn with replacement": {"again": True},
    "samples: replacement": {"samples": "replacement"},
    "uniform weights": {"weights": "uniform"},
    "weights not divided by p_i": {"weights": "data"},
    "one client more in a cohort": {"size": 3},
    "step size divided by nothing": {"divided": False},
    "models instead of differences": {"models": True},
}
