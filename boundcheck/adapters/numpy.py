"""A task for code on NumPy arrays: objectives as scipy takes them, and local training for servers of others."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundcheck.judge.task import Client, Task
from boundcheck.problems.problem import Floats


class Objective:
    """F of a task, or f_i of one client, as `scipy.optimize.minimize` takes it: `minimize(f, x, jac=f.gradient)`.

    client: default F, the weighted sum. mu, centre: of a proximal term mu/2 |x - centre|^2 that is added. Calling it
    raises Unsupported where the problem has gradients only.
    """

    def __init__(self, task: Task, client: Client | None = None, *, mu: float = 0.0, centre: Any = 0.0) -> None:
        self._parts = [(1.0, client)] if client is not None else [(c.weight, c) for c in task.clients]
        self._mu, self._centre = mu, centre

    def __call__(self, x: Floats) -> float:
        """The value at x (d,); on quadratic problems up to a constant."""
        away = x - self._centre
        return float(sum(w * c.loss(x) for w, c in self._parts) + self._mu / 2 * (away @ away))

    def gradient(self, x: Floats) -> Floats:
        """The gradient at x (d,)."""
        slope: Floats = self._mu * (x - self._centre)
        for weight, client in self._parts:
            slope = slope + weight * client.gradient(x)
        return slope


def sgd(
    client: Client, x: Floats, step_size: float, *, epochs: int = 1, batch_size: int | None = None,
    rng: np.random.Generator | None = None,
) -> Floats:  # fmt: skip
    """The model (d,) after local training from x: `epochs` over the client's samples with constant step size.

    batch_size: default all samples. rng: draws the order of each epoch; None takes samples by their numbers.
    """
    y = np.array(x, dtype=np.float64)
    size = batch_size or client.size
    for _ in range(epochs):
        order = np.arange(client.size) if rng is None else rng.permutation(client.size)
        for first in range(0, client.size, size):
            y = y - step_size * client.gradient(y, order[first : first + size].tolist())
    return y
