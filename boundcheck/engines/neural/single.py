"""Steps of models that train one after the other on a processor: `losses`, in memory that stays from step to step.

What depends on the model alone is made once for all its steps (`Lane`), what depends on the size of a batch once for
all models (`Single`), so that a step is made of the layers' products and little else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from boundcheck.engines.curve import Ints
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Bound, Tensor, Traced
from boundcheck.engines.neural.task import Task

__all__ = ["KEPT", "Lane", "Single"]

KEPT = 1 << 28  # bytes for batches of all sizes


class _Batch:
    """The layers for batches of one size, their samples and their loss."""

    def __init__(
        self, task: Task, network: Traced, samples: Tensor, labels: Tensor, inputs: Tensor, layers: Bound
    ) -> None:  # fmt: skip
        from boundcheck.engines.neural.kernels.cross_entropy_compiled import cross_entropy  # numba takes a moment

        scores, slopes = (a.view(-1).numpy() for a in (layers.found.x, layers.found.g))
        width, classes = layers.found.x.shape
        self.network, self.layers, self.cross_entropy = network, layers, cross_entropy
        self.drawn = [(task.inputs.flatten(1), samples.flatten(1)), (task.labels, labels)]
        # images lie with their channels innermost
        self.moved = (inputs.numpy(), _inner(samples).numpy()) if inputs.data_ptr() != samples.data_ptr() else None
        self.factor, loss = scores[:1].copy(), scores[:1].copy()
        every = labels.numpy()[:0] > 0  # no sample is left out
        self.loss = (scores, labels.numpy(), every, classes, width, self.factor, loss, slopes)
        self.size = layers.size + 2 * samples.nbytes

    def bind(self, parameters: Tensor, into: Tensor) -> Any:
        """What `back` wants of a model (1, dim) whose gradients go into (1, dim)."""
        rows, places = (parameters[0].numpy(), into[0].numpy()), self.network.places
        return self.layers.bind(*([row[place] for place in places] for row in rows))

    def back(self, own: Any, rows: Ints, factor: float, adding: bool) -> None:
        """The gradient of the mean loss of some samples, times a factor. own: see `bind`; adding: to what is there."""
        select, at = library().index_select, library().from_numpy(rows)
        for source, place in self.drawn:
            select(source, 0, at, out=place)
        if self.moved is not None:
            self.moved[0][:] = self.moved[1]
        self.layers.forth(own)
        self.factor[0] = factor
        self.cross_entropy(*self.loss)
        self.layers.back(own, adding)


def _inner(images: Tensor) -> Tensor:
    return images.permute(0, 2, 3, 1) if images.ndim == 4 else images


@dataclass(eq=False)
class Single:
    """The steps of a task's models, one at a time."""

    task: Task
    _batches: dict[int, _Batch | None] = field(default_factory=dict[int, "_Batch | None"])

    def of(self, width: int) -> _Batch | None:
        """Memory for batches of so many samples; None where a layer, or the loss, has no such way."""
        if width not in self._batches:
            made = self._made(width)
            held = sum(batch.size for batch in self._batches.values() if batch is not None)
            if made is not None and held + made.size > KEPT:
                self._batches.clear()
            self._batches[width] = made
        return self._batches[width]

    def _made(self, width: int) -> _Batch | None:
        torch, task, network = library(), self.task, self.task.network
        if not isinstance(network, Traced) or task.autocast or task.device.type != "cpu":
            return None
        if task.loss != "cross_entropy" or task.dtype not in (torch.float32, torch.float64):
            return None
        samples = task.inputs.new_zeros(width, *task.inputs.shape[1:])
        inputs = _inner(samples).contiguous()
        model = torch.empty(network.dim, dtype=task.dtype)
        layers = network.bound(model, inputs)
        if layers is None or not layers.found.x.is_contiguous():
            return None
        return _Batch(task, network, samples, task.labels.new_zeros(width), inputs, layers)


class Lane:
    """The steps of one model (1, dim); into: (1, dim), where its gradients go, which may be the model itself."""

    def __init__(self, single: Single, parameters: Tensor, into: Tensor) -> None:
        self.single, self.parameters, self.into = single, parameters, into
        self._bound = dict[int, tuple[_Batch, Any]]()

    def gradient(self, rows: Ints) -> None:
        """That of the mean loss of some samples, ridge included."""
        self._back(rows, 1.0, False)
        if self.single.task.ridge:
            self.into.add_(self.parameters, alpha=self.single.task.ridge)

    def descend(self, rows: Ints, eta: float) -> None:
        """A step of plain SGD, without the ridge, where the gradients go into the model itself."""
        self._back(rows, -eta, True)

    def _back(self, rows: Ints, factor: float, adding: bool) -> None:
        width = len(rows)
        if width not in self._bound:
            batch = self.single.of(width)
            assert batch is not None
            self._bound[width] = batch, batch.bind(self.parameters, self.into)
        batch, own = self._bound[width]
        batch.back(own, rows, factor, adding)
