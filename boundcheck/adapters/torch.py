"""A task for a trainer in PyTorch: a point as a model, a loss, and a data loader for each client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boundcheck.core.extras import needed_for
from boundcheck.judge.task import Client, Task

with needed_for("boundcheck.adapters.torch"):
    import torch
    from torch.utils.data import DataLoader, TensorDataset


class Point(torch.nn.Module):
    """A model whose one parameter `x` (d,) is the iterate; its output on any batch is x.

    task: whose start is the first x. dtype: of the parameter; single precision, as modules have. The output is in
    double precision, in which the task computes its losses.
    """

    def __init__(self, task: Task, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.x = torch.nn.Parameter(torch.as_tensor(task.start, dtype=dtype))

    def forward(self, inputs: Any = None) -> torch.Tensor:
        """x (d,), whatever the inputs are."""
        return self.x.double()

    def numpy(self) -> np.ndarray:
        """A copy of x (d,), in the precision of the parameter."""
        return self.x.detach().cpu().numpy().copy()


def loss_of(task: Task) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The criterion `loss(output, target)`: mean loss of the samples that a batch's targets name.

    output: of a `Point`. target: (B, 2) client and sample, as `loader` gives them; all of one client. Raises
    Unsupported where the problem has gradients only.
    """
    clients = task.torch().clients

    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return clients[int(target[0, 0])].loss(output, target[:, 1].tolist())

    return loss


def loader(client: Client, batch_size: int | None = None, *, shuffle: bool = False, seed: int = 0) -> DataLoader[Any]:
    """A DataLoader over the samples of a client, of (input, target) with target = (client, sample).

    batch_size: default all samples. shuffle: whether each epoch has an order of its own, drawn from `seed`.
    """
    samples = torch.arange(client.size)
    targets = torch.stack([torch.full_like(samples, client.index), samples], dim=1)
    generator = torch.Generator().manual_seed(seed)
    data = TensorDataset(samples, targets)
    return DataLoader(data, batch_size=batch_size or client.size, shuffle=shuffle, generator=generator)
