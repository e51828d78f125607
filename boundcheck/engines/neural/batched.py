"""An architecture as a network of many models: every layer works on all of them at once.

The parameters of a layer are views of the rows (N, dim), and its own way back writes into views of the rows of the
gradient, so that neither is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, starmap
from typing import Any

from boundcheck.engines.neural.kernels.bound import BoundChain
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel
from boundcheck.engines.neural.kernels.dense import DenseKernel
from boundcheck.engines.neural.kernels.elementwise import FlattenKernel, LastKernel, ReluKernel, TanhKernel
from boundcheck.engines.neural.kernels.normalisation import GroupNormKernel
from boundcheck.engines.neural.kernels.pooled_convolution import PooledConvolutionKernel, compiled
from boundcheck.engines.neural.kernels.pooling import GlobalMeanKernel, MaxPoolKernel
from boundcheck.engines.neural.kernels.recurrent import EmbeddingKernel, LSTMKernel
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bindable, Bound, Handed, Kernel, Tensor
from boundcheck.errors import Unsupported
from boundcheck.problems.architectures import (
    LSTM,
    Architecture,
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

__all__ = ["Batched", "Chain", "batched"]


@dataclass(frozen=True)
class Chain:
    """Layers one after the other. kernels: each with the number of its parameters."""

    kernels: tuple[tuple[Kernel, int], ...]

    @property
    def count(self) -> int:
        """How many parameters all have."""
        return sum(count for _, count in self.kernels)

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        place = 0
        for kernel, count in self.kernels:
            x = kernel(x, parameters[place : place + count])
            place += count
        return x

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The ways back of the layers, last to first."""
        steps, place = list[tuple[Back, int, int]](), 0
        for kernel, count in self.kernels:
            x, back = kernel.traced(x, parameters[place : place + count])
            steps.append((back, place, place + count))
            place += count

        def whole(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            while steps:  # what a layer keeps is given up as soon as its way back is gone
                back, first, end = steps.pop()
                if not (wanted or end):
                    return None
                gy = back(gy, into[first:end], wanted or first > 0, adding)
            return gy

        return x, whole

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> BoundChain | None:
        """Of one model, where all layers have a way for that."""
        layers, place, before = list[tuple[Bound, int]](), 0, given
        for kernel, count in self.kernels:
            own = parameters[place : place + count]
            one = kernel.bound(before, own) if isinstance(kernel, Bindable) else None
            if one is None:
                return None
            layers.append((one, count))
            before, place = one.found, place + count
        return BoundChain(tuple(layers))


@dataclass(frozen=True)
class ResidualKernel:
    """body(x) + shortcut(x)."""

    body: Chain
    shortcut: Chain

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        first = self.body.count
        return self.body(x, parameters[:first]) + self.shortcut(x, parameters[first:])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """Both ways back."""
        first = self.body.count
        y, along = self.body.traced(x, parameters[:first])
        short, aside = self.shortcut.traced(x, parameters[first:])

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            one = along(gy, into[:first], wanted, adding)
            other = aside(gy, into[first:], wanted, adding)
            return one + other if wanted else None

        return y + short, back


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
    def places(self) -> tuple[slice, ...]:
        """Where each slot lies in a row."""
        ends = list(accumulate(self._slots[0], initial=0))
        return tuple(starmap(slice, pairwise(ends)))

    @cached_property
    def _slots(self) -> tuple[list[int], list[tuple[int, ...]]]:
        slots = self.architecture.slots
        return [slot.size for slot in slots], [slot.parameter.shape for slot in slots]

    def scores(self, parameters: Tensor, inputs: Tensor) -> Tensor:
        """Scores (N, B, classes), see `Network`."""
        return self.chain(inputs, self.split(parameters))

    def traced(self, parameters: Tensor, inputs: Tensor) -> tuple[Tensor, Callable[[Tensor, Tensor, bool], None]]:
        """Scores and the way back, see `Traced`."""
        parts = self.split(parameters)
        scores, back = self.chain.traced(inputs, parts)

        def whole(gy: Tensor, into: Tensor, adding: bool) -> None:
            back(gy, parts if into is parameters else self.split(into), False, adding)

        return scores, whole

    def bound(self, parameters: Tensor, inputs: Tensor) -> BoundChain | None:
        """See `Traced`."""
        return self.chain.bound(Handed(inputs, None), [p[0] for p in self.split(parameters.unsqueeze(0))])

    def alone(self, inputs: Tensor, dtype: Tensor) -> bool:
        """Where a layer takes its models one by one, everything does: a model's work stays in the caches."""
        if inputs.device.type != "cpu":
            return False
        pooled = [k.convolution.layer for k, _ in self.chain.kernels if isinstance(k, PooledConvolutionKernel)]
        if any(compiled(layer, "cpu", dtype) for layer in pooled):
            return True
        return _each(self.architecture.layers, tuple(inputs.shape[2:]), inputs.shape[1], dtype)


def batched(architecture: Architecture) -> Batched:
    """The network of an architecture. Raises Unsupported for a layer without a kernel."""
    return Batched(architecture, _chain(architecture.layers))


_MAKERS: Mapping[type[Any], Callable[[Any], Kernel]] = {
    Dense: lambda _: DenseKernel(),
    Convolution: ConvolutionKernel,
    GroupNorm: lambda layer: GroupNormKernel(layer.groups, layer.epsilon),
    Relu: lambda _: ReluKernel(),
    Tanh: lambda _: TanhKernel(),
    MaxPool: lambda layer: MaxPoolKernel(
        layer.size, layer.size if layer.stride is None else layer.stride, layer.padding
    ),
    GlobalMean: lambda _: GlobalMeanKernel(),
    Flatten: lambda _: FlattenKernel(),
    Embedding: lambda _: EmbeddingKernel(),
    LSTM: LSTMKernel,
    Last: lambda layer: LastKernel(layer.both),
    Residual: lambda layer: ResidualKernel(_chain(layer.body), _chain(layer.shortcut)),
}


def _chain(layers: Sequence[Layer]) -> Chain:
    order = list(layers)
    for k in range(len(order) - 1):
        if isinstance(order[k], Relu) and isinstance(order[k + 1], MaxPool):
            # max(largest, 0) = largest of max(., 0), value and gradient alike, on fewer numbers
            order[k], order[k + 1] = order[k + 1], order[k]
    kernels, k = list[tuple[Kernel, int]](), 0
    while k < len(order):
        first, pool, last = (order[k + j] if k + j < len(order) else None for j in range(3))
        if isinstance(first, Convolution) and isinstance(pool, MaxPool) and isinstance(last, Relu) and _apart(pool):
            kernel = PooledConvolutionKernel(ConvolutionKernel(first), MaxPoolKernel(2, 2, 0))
            kernels.append((kernel, len(first.parameters())))
            k += 3
        else:
            kernels.append(_kernel(order[k]))
            k += 1
    return Chain(tuple(kernels))


def _apart(pool: MaxPool) -> bool:
    """Whether windows are 2 x 2 and lie side by side."""
    return pool.size == 2 and pool.stride in (None, 2) and not pool.padding


def _kernel(layer: Layer) -> tuple[Kernel, int]:
    if type(layer) not in _MAKERS:
        raise Unsupported(f"engine = 'neural' has no kernel for the layer {layer}.")
    kernel = _MAKERS[type(layer)](layer)
    return kernel, kernel.body.count + kernel.shortcut.count if isinstance(kernel, ResidualKernel) else len(
        layer.parameters()
    )


def _each(layers: Sequence[Layer], given: tuple[int, ...], samples: int, dtype: Tensor) -> bool:
    """Whether a layer, for so many samples of a shape on a processor, takes its models one by one."""
    for layer in layers:
        if isinstance(layer, Residual) and _each(layer.body, given, samples, dtype):
            return True
        if isinstance(layer, Convolution) and ConvolutionKernel(layer).one_by_one(given, samples):
            return True
        if isinstance(layer, LSTM) and LSTMKernel(layer).choose("cpu", dtype) == "each":
            return True
        given = layer.shape(given)
    return False
