"""The operations and the least traffic of one local step, counted from an architecture alone; see `neural_gpu.py`."""

from __future__ import annotations

import math
from typing import NamedTuple

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


class Work(NamedTuple):
    """Operations and bytes of one pass over one layer."""

    operations: float
    bytes: float


def client_step(model: Architecture, batch: int, width: int = 4) -> list[Work]:
    """The passes of one local step of one client: operations and least traffic. width: bytes of a number."""
    found, at, below = list[Work](), model.inputs, False
    read = 8 if model.kind == "tokens" else width
    found.append(Work(0, 2 * read * batch * math.prod(model.inputs)))  # the samples are gathered
    for layer in model.layers:
        found += _passes(layer, at, batch, width, below)
        below = below or _size(layer) > 0
        at = layer.shape(at)
    found.append(Work(2 * model.dim, 3 * width * model.dim))  # the update
    return found


def _size(layer: Layer) -> int:
    if isinstance(layer, Residual):
        return sum(_size(inner) for inner in (*layer.body, *layer.shortcut))
    return sum(math.prod(p.shape) for p in layer.parameters())


def _passes(layer: Layer, given: tuple[int, ...], batch: int, width: int, below: bool) -> list[Work]:
    """Forward and backward of a layer. below: whether its inputs need a gradient, for parameters below it."""
    if isinstance(layer, Residual):
        found = list[Work]()
        for path in (layer.body, layer.shortcut):
            at = given
            for inner in path:
                found += _passes(inner, at, batch, width, True)
                at = inner.shape(at)
        out = batch * math.prod(layer.shape(given))
        return [*found, Work(out, 3 * width * out), Work(out, 3 * width * out)]  # the sum, and that of gradients
    one, two, size = batch * math.prod(given), batch * math.prod(layer.shape(given)), _size(layer)
    if isinstance(layer, Dense | Convolution):
        reach = layer.inputs * (layer.kernel**2 if isinstance(layer, Convolution) else 1)
        each = Work(2 * two * reach, width * (one + two + size))
        return [each] * (3 if below else 2)
    if isinstance(layer, LSTM):
        return _recurrent(layer, batch * given[0], width)
    if isinstance(layer, Embedding):  # numbers of symbols have 8 bytes
        return [Work(0, 8 * one + 2 * width * two), Work(two, 8 * one + width * (two + size))]
    if isinstance(layer, Flatten | Last):
        return []
    if isinstance(layer, GroupNorm):  # backward: from inputs and gradients
        forward, backward = Work(5 * one, 2 * width * one), Work(10 * one, 3 * width * one)
    elif isinstance(layer, Relu | Tanh):
        forward, backward = Work(one, 2 * width * one), Work(one, 3 * width * one)
    elif isinstance(layer, MaxPool | GlobalMean):
        forward, backward = Work(one, width * (one + two)), Work(one, width * (one + two))
    else:
        raise TypeError(f"no count for the layer {layer}")
    return [forward, backward] if below else [forward]


def _recurrent(layer: LSTM, places: int, width: int) -> list[Work]:
    """Weights read once a pass (they would have to stay on the chip); states and gates are kept for the way back."""
    found, h = list[Work](), layer.hidden
    for k in range(layer.layers):
        given = layer.inputs if k == 0 else h * (2 if layer.both else 1)
        for _ in range(2 if layer.both else 1):
            operations, size = 2 * places * 4 * h * (given + h), 4 * h * (given + h + 2)
            kept = 6 * h * places  # outputs, cells and four gates
            forward = Work(operations, width * (places * given + kept + size))
            backward = Work(2 * operations, width * (2 * places * given + kept + h * places + 2 * size))
            found += [forward, backward]
    return found
