"""A task for a trainer in JAX: losses as functions of a point, which `jax.grad` and optax take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from boundcheck.judge.task import Client, Task


def loss_of(task: Task) -> Callable[..., Any]:
    """The function `loss(x, client, samples=None)` of a point x (d,): that client's loss, a scalar for `jax.grad`.

    client: its number. samples: numbers of its samples, None for all. In single precision unless `jax_enable_x64` is
    set before. Raises MissingExtra without JAX; the loss raises Unsupported where the problem has gradients only.
    """
    clients = task.jax().clients

    def loss(x: Any, client: int, samples: Any = None) -> Any:
        return clients[client].loss(x, samples)

    return loss


def start_of(task: Task) -> Any:
    """x_0 (d,) as an array of JAX. Raises MissingExtra without JAX."""
    return task.jax().start


def batches(client: Client, size: int, rng: np.random.Generator | None = None) -> Iterator[np.ndarray]:
    """The numbers of a client's samples in batches of `size`, one epoch. rng: draws their order; None leaves it."""
    order = np.arange(client.size) if rng is None else rng.permutation(client.size)
    for first in range(0, client.size, size):
        yield order[first : first + size]
