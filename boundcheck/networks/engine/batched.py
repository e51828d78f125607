"""An architecture as a network of many models: every layer works on all of them at once.

The parameters of a layer are views of the rows (N, dim), and its backward pass writes into views of the rows of the
gradient, so that neither is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from boundcheck.errors import Unsupported
from boundcheck.networks.architectures.architecture import Architecture
from boundcheck.networks.architectures.layers import (
    LSTM,
    Convolution,
    Dense,
    Embedding,
    Flatten,
    GlobalMean,
    GroupNorm,
    Last,
    Layer,
    MaxPool,
    Relu,
    Residual,
    Tanh,
)
from boundcheck.networks.engine.device import library
from boundcheck.networks.engine.layers import (
    BatchedConvolution,
    BatchedDense,
    BatchedEmbedding,
    BatchedFlatten,
    BatchedGlobalMean,
    BatchedGroupNorm,
    BatchedLast,
    BatchedMaxPool,
    BatchedRelu,
    BatchedTanh,
)
from boundcheck.networks.engine.network import Backward, BatchedLayer, Tensor
from boundcheck.networks.engine.recurrent import BatchedLSTM


@dataclass(frozen=True)
class Chain:
    """Layers one after the other. layers: each with the number of its parameters."""

    layers: tuple[tuple[BatchedLayer, int], ...]

    @property
    def count(self) -> int:
        """How many parameters all have."""
        return sum(count for _, count in self.layers)

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        place = 0
        for layer, count in self.layers:
            x = layer(x, parameters[place : place + count])
            place += count
        return x

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """The backward passes of the layers, last to first."""
        steps, place = list[tuple[Backward, int, int]](), 0
        for layer, count in self.layers:
            x, backward = layer.traced(x, parameters[place : place + count])
            steps.append((backward, place, place + count))
            place += count

        def whole(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            while steps:  # what a layer keeps is freed as soon as its backward pass has ended
                backward, first, end = steps.pop()
                if not (wanted or end):
                    return None
                gy = backward(gy, into[first:end], wanted or first > 0, adding)
            return gy

        return x, whole


@dataclass(frozen=True)
class BatchedResidual:
    """body(x) + shortcut(x)."""

    body: Chain
    shortcut: Chain

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        first = self.body.count
        return self.body(x, parameters[:first]) + self.shortcut(x, parameters[first:])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Backward]:
        """Both backward passes."""
        first = self.body.count
        y, of_body = self.body.traced(x, parameters[:first])
        short, of_shortcut = self.shortcut.traced(x, parameters[first:])

        def backward(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            one = of_body(gy, into[:first], wanted, adding)
            other = of_shortcut(gy, into[first:], wanted, adding)
            return one + other if wanted else None

        return y + short, backward


@dataclass(frozen=True, eq=False)
class Batched:
    """The models of an architecture."""

    architecture: Architecture
    chain: Chain

    @property
    def dim(self) -> int:
        """Coordinates of a model."""
        return self.architecture.dim

    def split(self, rows: Tensor) -> tuple[Tensor, ...]:
        """The rows (N, dim) as arrays (N, *shape), one for each slot, without a copy.

        They are split once, so that their gradient by autograd is one concatenation.
        """
        sizes, shapes = self._slots
        parts = library().split(rows, sizes, dim=1)
        return tuple(part.view(rows.shape[0], *shape) for part, shape in zip(parts, shapes, strict=True))

    @cached_property
    def _slots(self) -> tuple[list[int], list[tuple[int, ...]]]:
        slots = self.architecture.slots
        return [slot.size for slot in slots], [slot.parameter.shape for slot in slots]

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes), see `Network`."""
        return self.chain(inputs, self.split(parameters))

    def traced(self, parameters: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor, Tensor, bool], None]]:
        """Scores and the backward pass, see `Traced`."""
        parts = self.split(parameters)
        scores, backward = self.chain.traced(inputs, parts)

        def whole(gy: Tensor, into: Tensor, adding: bool) -> None:
            backward(gy, parts if into is parameters else self.split(into), False, adding)

        return scores, whole


def batched(architecture: Architecture) -> Batched:
    """The network of an architecture. Raises Unsupported for a layer that has no batched form."""
    return Batched(architecture, _chain(architecture.layers))


_MAKERS: Mapping[type[Any], Callable[[Any], BatchedLayer]] = {
    Dense: lambda _: BatchedDense(),
    Convolution: BatchedConvolution,
    GroupNorm: lambda layer: BatchedGroupNorm(layer.groups, layer.epsilon),
    Relu: lambda _: BatchedRelu(),
    Tanh: lambda _: BatchedTanh(),
    MaxPool: lambda layer: BatchedMaxPool(
        layer.size, layer.size if layer.stride is None else layer.stride, layer.padding
    ),
    GlobalMean: lambda _: BatchedGlobalMean(),
    Flatten: lambda _: BatchedFlatten(),
    Embedding: lambda _: BatchedEmbedding(),
    LSTM: BatchedLSTM,
    Last: lambda layer: BatchedLast(layer.both),
    Residual: lambda layer: BatchedResidual(_chain(layer.body), _chain(layer.shortcut)),
}


def _chain(layers: Sequence[Layer]) -> Chain:
    order = list(layers)
    for k in range(len(order) - 1):
        if isinstance(order[k], Relu) and isinstance(order[k + 1], MaxPool):
            # max(largest, 0) = largest of max(., 0), value and gradient alike, on fewer numbers
            order[k], order[k + 1] = order[k + 1], order[k]
    return Chain(tuple(_counted(layer) for layer in order))


def _counted(layer: Layer) -> tuple[BatchedLayer, int]:
    """A layer's batched form and how many parameters it has."""
    if type(layer) not in _MAKERS:
        raise Unsupported(f"engine = 'neural' has no batched form of the layer {layer}.")
    made = _MAKERS[type(layer)](layer)
    if isinstance(made, BatchedResidual):
        return made, made.body.count + made.shortcut.count
    return made, len(layer.parameters())
