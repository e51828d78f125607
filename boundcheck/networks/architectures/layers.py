"""The layers of which architectures are made.

Parameters have the names, shapes and order of the same layers of PyTorch, so that a model can be compared with one that
is written there. Shapes of what flows between layers leave out the sample: (channels, height, width), (features,) or
(length, width).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from boundcheck.errors import BadInput

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Parameter:
    """An array of a layer.

    start: how it begins: "uniform" (on [-width, width]), "normal" (of standard deviation width), "ones" or "zeros".
    axis: that of the output channels (or units); gates: how many times these stand on it one after the other.
    """

    name: str
    shape: Shape
    start: Literal["uniform", "normal", "ones", "zeros"]
    width: float = 0.0
    axis: int = 0
    gates: int = 1


class Layer(Protocol):
    """A layer."""

    def parameters(self) -> tuple[Parameter, ...]:
        """Its arrays, in the order in which they stand in the flat vector."""
        ...

    def shape(self, given: Shape) -> Shape:
        """The shape of what it returns for a sample of the shape given. Raises BadInput where they do not fit."""
        ...


class _Bare:
    """A layer without parameters that keeps the shape."""

    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    def shape(self, given: Shape) -> Shape:
        return given


def _expect(layer: object, given: Shape, axes: int, first: int | None = None) -> None:
    if len(given) != axes or (first is not None and given[0] != first):
        raise BadInput(f"the layer {layer} does not fit what comes before it, of shape {list(given)}.")


@dataclass(frozen=True)
class Dense:
    """y = W x + b, W (outputs, inputs), on the last axis."""

    inputs: int
    outputs: int
    bias: bool = True

    def parameters(self) -> tuple[Parameter, ...]:
        width = 1 / math.sqrt(self.inputs)
        weight = Parameter("weight", (self.outputs, self.inputs), "uniform", width)
        return (weight, Parameter("bias", (self.outputs,), "uniform", width)) if self.bias else (weight,)

    def shape(self, given: Shape) -> Shape:
        if not given or given[-1] != self.inputs:
            raise BadInput(f"the layer {self} does not fit what comes before it, of shape {list(given)}.")
        return (*given[:-1], self.outputs)


@dataclass(frozen=True)
class Convolution:
    """A two-dimensional convolution with a square kernel, W (outputs, inputs, kernel, kernel)."""

    inputs: int
    outputs: int
    kernel: int
    stride: int = 1
    padding: int = 0
    bias: bool = True

    def parameters(self) -> tuple[Parameter, ...]:
        width = 1 / math.sqrt(self.inputs * self.kernel**2)
        weight = Parameter("weight", (self.outputs, self.inputs, self.kernel, self.kernel), "uniform", width)
        return (weight, Parameter("bias", (self.outputs,), "uniform", width)) if self.bias else (weight,)

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 3, self.inputs)
        return (self.outputs, *(_slid(side, self.kernel, self.stride, self.padding) for side in given[1:]))


@dataclass(frozen=True)
class GroupNorm:
    """Channels in groups, each normalised over its channels and positions, then scaled and shifted by channel."""

    groups: int
    channels: int
    epsilon: float = 1e-5

    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.channels,), "ones"), Parameter("bias", (self.channels,), "zeros"))

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 3, self.channels)
        return given


@dataclass(frozen=True)
class Relu(_Bare):
    """max(x, 0)."""


@dataclass(frozen=True)
class Tanh(_Bare):
    """tanh(x)."""


@dataclass(frozen=True)
class MaxPool:
    """The largest value of each window; stride None: that of the window."""

    size: int
    stride: int | None = None
    padding: int = 0

    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 3)
        stride = self.size if self.stride is None else self.stride
        return (given[0], *(_slid(side, self.size, stride, self.padding) for side in given[1:]))


@dataclass(frozen=True)
class GlobalMean:
    """The mean over all positions of each channel."""

    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 3)
        return given[:1]


@dataclass(frozen=True)
class Flatten:
    """One long axis."""

    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    def shape(self, given: Shape) -> Shape:
        return (math.prod(given),)


@dataclass(frozen=True)
class Embedding:
    """A vector for each symbol of a vocabulary; a sample is a sequence of their numbers."""

    symbols: int
    width: int

    def parameters(self) -> tuple[Parameter, ...]:
        return (Parameter("weight", (self.symbols, self.width), "normal", 1.0, axis=1),)

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 1)
        return (*given, self.width)


@dataclass(frozen=True)
class LSTM:
    """Long short-term memory over a sequence (length, inputs); both: a second pass backwards, outputs side by side."""

    inputs: int
    hidden: int
    layers: int = 1
    both: bool = False

    def parameters(self) -> tuple[Parameter, ...]:
        width, found = 1 / math.sqrt(self.hidden), list[Parameter]()
        for k in range(self.layers):
            given = self.inputs if k == 0 else self.hidden * (2 if self.both else 1)
            for way in ("", "_reverse") if self.both else ("",):
                rows = 4 * self.hidden
                found += [
                    Parameter(f"weight_ih_l{k}{way}", (rows, given), "uniform", width, gates=4),
                    Parameter(f"weight_hh_l{k}{way}", (rows, self.hidden), "uniform", width, gates=4),
                    Parameter(f"bias_ih_l{k}{way}", (rows,), "uniform", width, gates=4),
                    Parameter(f"bias_hh_l{k}{way}", (rows,), "uniform", width, gates=4),
                ]
        return tuple(found)

    def shape(self, given: Shape) -> Shape:
        if len(given) != 2 or given[1] != self.inputs:
            raise BadInput(f"the layer {self} does not fit what comes before it, of shape {list(given)}.")
        return (given[0], self.hidden * (2 if self.both else 1))


@dataclass(frozen=True)
class Last:
    """The last element of a sequence; both: half of it from the last element, half (the backward pass) from the first.

    width of the sequence is kept.
    """

    both: bool = False

    def parameters(self) -> tuple[Parameter, ...]:
        return ()

    def shape(self, given: Shape) -> Shape:
        _expect(self, given, 2)
        return given[1:]


@dataclass(frozen=True)
class Residual:
    """body(x) + shortcut(x); without layers the shortcut is x."""

    body: tuple[Layer, ...]
    shortcut: tuple[Layer, ...] = ()

    def parameters(self) -> tuple[Parameter, ...]:
        raise TypeError("the parameters of a residual block are those of its layers")

    def shape(self, given: Shape) -> Shape:
        ends = list[Shape]()
        for path in (self.body, self.shortcut):
            at = given
            for layer in path:
                at = layer.shape(at)
            ends.append(at)
        if ends[0] != ends[1]:
            raise BadInput(f"the two ways of a residual block end in the shapes {list(ends[0])} and {list(ends[1])}.")
        return ends[0]


def _slid(side: int, kernel: int, stride: int, padding: int) -> int:
    count = (side + 2 * padding - kernel) // stride + 1
    if count < 1:
        raise BadInput(f"a window of {kernel} does not fit into {side} positions.")
    return count
