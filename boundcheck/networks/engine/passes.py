"""Whole passes over a problem's samples, in chunks: losses and gradients of each client, held-out samples.

Everything is evaluated in the precision of the parameters, never under autocast, and summed in float64.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.networks.engine.device import Tensor, library
from boundcheck.networks.engine.losses import sample_losses
from boundcheck.networks.engine.task import Task

BUDGET = {"cpu": 1 << 28, "cuda": 1 << 31}  # bytes that a chunk may take, about
MODELS_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes over the samples of a task, in chunks that fit its model."""

    task: Task

    @property
    def sizes(self) -> Floats:
        """Samples of each client (n,), at least 1."""
        return np.maximum(np.diff(self.task.offsets), 1).astype(np.float64)

    @cached_property
    def shares(self) -> Tensor:
        """w_i/|D_i| of every sample (N,), float64 on the device."""
        each = np.repeat(self.task.weights / self.sizes, np.diff(self.task.offsets))
        return library().as_tensor(each, device=self.task.device)

    @cached_property
    def _room(self) -> list[int]:
        return [BUDGET.get(self.task.device.type, BUDGET["cpu"])]

    @property
    def _bytes(self) -> int:
        return 8 if self.task.dtype == library().float64 else 4

    def models_at_once(self) -> int:
        """How many models pass at once, in view of their coordinates."""
        return max(1, min(MODELS_AT_ONCE, self._room[0] // (6 * 8 * self.task.network.dim)))

    def rows_at_once(self, models: int) -> int:
        """How many samples pass at once through a number of models."""
        return max(1, self._room[0] // (3 * self._bytes * max(1, self.task.network.width) * models))

    def lower_room(self) -> None:
        """Smaller chunks from now on. Raises MemoryError where they cannot be smaller."""
        if self._room[0] <= 1 << 16:
            raise MemoryError
        self._room[0] //= 2

    def parts(self, points: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """Points (S, dim) in groups that pass at once, in the dtype and on the device of the task."""
        step = self.models_at_once()
        for begin in range(0, len(points), step):
            part = slice(begin, min(begin + step, len(points)))
            yield part, points[part].to(device=self.task.device, dtype=self.task.dtype)

    def _rows(self, low: int, high: int, models: int) -> Iterator[slice]:
        step = self.rows_at_once(models)
        for begin in range(low, high, step):
            yield slice(begin, min(begin + step, high))

    def _ridge(self, points: Tensor) -> Tensor:
        return self.task.ridge / 2 * points.double().square().sum(dim=1)

    def sample_losses(self, points: Tensor) -> Floats:
        """The loss of every sample without the ridge (s, N), at points (s, dim) of `parts`."""
        task = self.task
        found = np.empty((len(points), len(task.labels)))
        with library().no_grad():
            for rows in self._rows(0, len(task.labels), len(points)):
                scores = task.network.scores(points, task.inputs[rows].unsqueeze(0))
                found[:, rows] = sample_losses(task, scores, task.labels[rows]).double().cpu().numpy()
        return found

    def client_means(self, points: Tensor, each: Floats) -> Floats:
        """f_i (s, n) from the losses of all samples."""
        ends = self.task.offsets
        sums = np.stack([each[:, a:b].sum(axis=1) for a, b in itertools.pairwise(ends)], axis=1)
        return sums / self.sizes + self._ridge(points).cpu().numpy()[:, None]

    def losses(self, points: Tensor) -> Floats:
        """f_i (s, n) at points (s, dim) of `parts`."""
        return self.client_means(points, self.sample_losses(points))

    def weighted(self, points: Tensor, low: int, high: int, shares: Tensor) -> tuple[Floats, Tensor]:
        """Losses (s, high - low) of the samples low to high, and the gradient (s, dim) of their sum with these shares.

        shares: (high - low,). Float64; the ridge is in neither.
        """
        torch, task = library(), self.task
        each = np.empty((len(points), high - low))
        total = torch.zeros(points.shape, dtype=torch.float64, device=task.device)
        for rows in self._rows(low, high, len(points)):
            leaf = points.detach().requires_grad_()
            own = slice(rows.start - low, rows.stop - low)
            with torch.enable_grad():
                scores = task.network.scores(leaf, task.inputs[rows].unsqueeze(0))
                values = sample_losses(task, scores, task.labels[rows])
                (gradient,) = torch.autograd.grad((values * shares[own].to(values.dtype)).sum(), leaf)
            each[:, own] = values.detach().double().cpu().numpy()
            total += gradient.double()
        return each, total

    def slopes(self, points: Tensor) -> tuple[Floats, Tensor]:
        """f_i (s, n) and grad F (s, dim), both float64, at points (s, dim) of `parts`."""
        each, total = self.weighted(points, 0, len(self.task.labels), self.shares)
        weight = float(self.task.weights.sum())
        return self.client_means(points, each), total + weight * self.task.ridge * points.double()

    def client_slopes(self, points: Tensor, client: int) -> tuple[Floats, Tensor]:
        """f_i (s,) and grad f_i (s, dim), both float64, of one client at points (s, dim) of `parts`."""
        low, high = int(self.task.offsets[client]), int(self.task.offsets[client + 1])
        shares = library().full((high - low,), 1 / max(1, high - low), dtype=library().float64, device=self.task.device)
        each, total = self.weighted(points, low, high, shares)
        own = each.mean(axis=1) if high > low else np.zeros(len(points))
        return own + self._ridge(points).cpu().numpy(), total + self.task.ridge * points.double()

    def held_out(self, points: Tensor) -> tuple[Floats, Floats]:
        """Mean loss (s,) and share of right answers (s,) on the held-out samples; the ridge is no part of the loss."""
        task = self.task
        assert task.test_inputs is not None
        assert task.test_labels is not None
        count, lost, right = len(task.test_labels), np.zeros(len(points)), np.zeros(len(points))
        with library().no_grad():
            for rows in self._rows(0, count, len(points)):
                labels = task.test_labels[rows]
                scores = task.network.scores(points, task.test_inputs[rows].unsqueeze(0))
                lost += sample_losses(task, scores, labels).double().sum(dim=1).cpu().numpy()
                if task.loss == "logistic":
                    hits = scores.squeeze(-1) * labels.to(scores.dtype) > 0
                else:
                    hits = scores.argmax(dim=2) == labels
                right += hits.sum(dim=1).cpu().numpy()
        return lost / count, right / count
