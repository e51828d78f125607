"""A convolution, the pooling of what it makes by windows of 2 x 2, and ReLU, as one layer of many models.

On a processor the models follow one another through compiled passes; elsewhere, and where autograd is to go through,
the three layers do. The passes take products at each window (`convolution_compiled`), or, where that takes `WORTH`
times fewer multiplications, products of frequencies (`frequencies_compiled`).

Measured in float32 on one thread (`benchmarks/neural_convolutions.py`), there and back with the gradient in the images,
in ms a model (windows, frequencies, torch's layers), 10 images: 5 x 5 from 1 to 32 channels, 28 x 28: 6.9, 4.8, 4.7; at
14 x 14 from 8 to 16: 0.94, 0.54, 1.9; from 32 to 64: 7.5, 4.4, 11; 3 x 3 from 16 to 32: 1.3, 1.3, 2.6; from 32 to 64:
4.2, 3.2, 4.3; 32 images, 5 x 5 from 32 to 64: 22, 6.7, 25. The machine's speed moved by a third during the run.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boundcheck.engines.neural.kernels import frequencies
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel
from boundcheck.engines.neural.kernels.elementwise import ReluKernel
from boundcheck.engines.neural.kernels.plain import put
from boundcheck.engines.neural.kernels.pooling import MaxPoolKernel
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor
from boundcheck.problems.architectures import Convolution

__all__ = [
    "KEPT",
    "WORTH",
    "ByFrequencies",
    "ByWindows",
    "PooledConvolutionKernel",
    "compiled",
    "fewer",
    "forget",
    "kept",
    "passes_of",
]

WORTH = 1.2  # how many times fewer multiplications pay for products that are smaller
KEPT = 1 << 28  # bytes of free memory that a thread keeps for the next model


def compiled(layer: Convolution, device: str, dtype: Tensor) -> bool:
    """Whether there are compiled passes of a convolution, for a device and a type of number."""
    if device != "cpu" or layer.stride != 1 or dtype not in (library().float32, library().float64):
        return False
    from boundcheck.engines.neural.kernels.words import usable  # numba takes a moment

    return layer.padding < layer.kernel and usable()


@dataclass(frozen=True)
class PooledConvolutionKernel:
    """max(largest of each window of the convolution, 0). pool: of windows side by side."""

    convolution: ConvolutionKernel
    pool: MaxPoolKernel

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return ReluKernel()(self.pool(self.convolution(x, parameters), ()), ())

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The compiled passes of each model, or the ways back of the layers."""
        weight = parameters[0]
        if not compiled(self.convolution.layer, x.device.type, weight.dtype):
            return self._layers(x, parameters)
        lanes = weight.shape[0]
        if x.shape[0] != lanes:
            x = x.expand(lanes, *x.shape[1:])
        passes, found = list[Pass](), list[Tensor]()
        for k in range(lanes):
            passes.append(passes_of(self.convolution.layer, tuple(x.shape[1:]), x.dtype))
            found.append(passes[-1].forth(x[k], weight[k], parameters[1][k] if len(parameters) > 1 else None))

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            through: list[Tensor] = []
            for k, one in enumerate(passes):
                gx = one.back(gy[k], weight[k], [place[k] for place in into], wanted, adding)
                if gx is not None:
                    through.append(gx)
            return _together(through) if wanted else None

        return _together(found), back

    def _layers(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        y, first = self.convolution.traced(x, parameters)
        y, second = self.pool.traced(y, ())
        y, third = ReluKernel().traced(y, ())

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            return first(second(third(gy, (), True, adding), (), True, adding), into, wanted, adding)

        return y, back


class _Free(threading.local):
    """Passes whose memory is free, by what they are for. New memory is cleared page by page, which takes long."""

    def __init__(self) -> None:
        self.passes: dict[Any, Pass] = {}

    def keep(self, one: Pass) -> None:
        """Keep a pass, and the others only where all stay below `KEPT`."""
        if sum(p.size for p in self.passes.values()) + one.size > KEPT:
            self.passes.clear()
        self.passes[one.key] = one


_FREE = _Free()


def forget() -> None:
    """Give up the memory that this thread keeps."""
    _FREE.passes.clear()


def kept() -> int:
    """How many passes this thread keeps."""
    return len(_FREE.passes)


def fewer(layer: Convolution, shape: tuple[int, ...]) -> float:
    """How many times fewer multiplications products of frequencies take than windows of images (B, inputs, ...)."""
    samples, inputs, *given = shape
    _, rows, columns = layer.shape(shape[1:])
    ours = frequencies.multiplications(given[0], given[1], layer.kernel, layer.padding)
    wide = inputs * layer.outputs
    products = wide * (samples * ours.planes + ours.filters)
    products += samples * (inputs * ours.images + layer.outputs * ours.places)
    return samples * rows * columns * layer.kernel**2 * wide / products


def passes_of(layer: Convolution, shape: tuple[int, ...], dtype: Tensor) -> Pass:
    """Passes for images (B, inputs, height, width), which nobody else has before their way back has been gone."""
    key = (layer, shape, dtype)
    if key in _FREE.passes:
        return _FREE.passes.pop(key)
    # without a bias the sums where an image is blank are 0, where ReLU has its kink: there they must be exact
    made = ByFrequencies if layer.bias and fewer(layer, shape) > WORTH else ByWindows
    return made(layer, shape, dtype)


class Pass(ABC):
    """A model's images there and back, in memory of their own.

    flipped: whether the way back wants filters with their last place first.
    """

    flipped: bool

    def __init__(self, layer: Convolution, shape: tuple[int, ...], dtype: Tensor) -> None:
        from boundcheck.engines.neural.kernels.words import BYTES, ready

        ready(dtype.itemsize)
        self.key, self.dtype, self.size = (layer, shape, dtype), dtype, 0
        self.single = dtype == library().float32
        self.lanes = BYTES // (4 if self.single else 8)
        self.samples, self.inputs, self.height, self.width = shape
        self.side, self.padding = layer.kernel, layer.padding
        self.outputs, self.rows, self.columns = layer.shape(shape[1:])
        self.wide, self.narrow = (-(-a // self.lanes) * self.lanes for a in (self.outputs, self.inputs))
        self.form = (self.side**2, self.inputs, self.outputs)
        self.high, self.broad = self.rows // 2, self.columns // 2
        self.filters, self.into = (self.room(self.side, self.side, self.inputs, self.wide) for _ in range(2))
        self.turned = self.room(self.side, self.side, self.outputs, self.narrow)
        self.bias, self.slope = self.room(self.outputs), self.room(self.outputs)
        self.places = self.room(self.samples, self.high, self.broad, self.outputs)

    def room(self, *sides: int) -> Tensor:
        """An array of zeros."""
        found = library().zeros(sides, dtype=self.dtype)
        self.size += found.nbytes
        return found

    def forth(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """(B, outputs, high, broad) of images x (B, inputs, height, width)."""
        from boundcheck.engines.neural.kernels import filters_compiled

        filters_compiled.laid_out(_flat(weight), *self.form, self.wide, _flat(self.filters))
        if bias is not None:
            self.bias.copy_(bias)
        out = x.new_empty(self.samples, self.high, self.broad, self.outputs)
        self._forth(_flat(x.permute(0, 2, 3, 1)), _flat(out))
        return out.permute(0, 3, 1, 2)

    def back(self, g: Tensor, weight: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor | None:
        """The gradient in x, where it is wanted; it may be called once."""
        from boundcheck.engines.neural.kernels import filters_compiled

        if wanted:
            filters_compiled.turned(_flat(weight), *self.form, self.narrow, self.flipped, _flat(self.turned))
        gx = g.new_empty((self.samples, self.height, self.width, self.inputs) if wanted else (0,))
        self._back(_flat(g.permute(0, 2, 3, 1)), _flat(gx), wanted)
        place = into[0] if into[0].is_contiguous() else into[0].contiguous()
        filters_compiled.put_back(_flat(self.into), *self.form, self.wide, _flat(place), adding)
        if place is not into[0]:
            into[0].copy_(place)
        if len(into) > 1:
            put(self.slope, into[1], adding)
        _FREE.keep(self)
        return gx.permute(0, 3, 1, 2) if wanted else None

    @abstractmethod
    def _forth(self, x: Any, out: Any) -> None: ...

    @abstractmethod
    def _back(self, g: Any, gx: Any, wanted: bool) -> None: ...


class ByWindows(Pass):
    """By products at each window."""

    flipped = True

    def __init__(self, layer: Convolution, shape: tuple[int, ...], dtype: Tensor) -> None:
        super().__init__(layer, shape, dtype)
        p, frame = self.padding, self.side - 1 - self.padding
        framed = self.room(self.samples, self.height + 2 * p, self.width + 2 * p, self.inputs)
        slopes = self.room((self.rows + 2 * frame) * (self.columns + 2 * frame) * self.outputs + self.wide)
        y, found = self.room(self.rows, self.columns, self.wide), self.room(self.height, self.width, self.narrow)
        self.there = [_flat(a) for a in (self.filters, self.bias, framed, y, self.places)]
        self.again = [_flat(a) for a in (self.places, framed, self.turned, slopes, self.into, found, self.slope)]
        self.sizes = (
            self.samples, self.height, self.width, self.inputs, self.side, p, self.rows, self.columns, self.outputs,
            self.narrow, self.wide, self.high, self.broad,
        )  # fmt: skip

    def _forth(self, x: Any, out: Any) -> None:
        from boundcheck.engines.neural.kernels import convolution_compiled

        convolution_compiled.forth(self.lanes, x, *self.there, out, *self.sizes)

    def _back(self, g: Any, gx: Any, wanted: bool) -> None:
        from boundcheck.engines.neural.kernels import convolution_compiled

        convolution_compiled.back(self.lanes, g, *self.again, gx, wanted, *self.sizes)


class ByFrequencies(Pass):
    """By products of frequencies."""

    flipped = False

    def __init__(self, layer: Convolution, shape: tuple[int, ...], dtype: Tensor) -> None:
        from boundcheck.engines.neural.kernels.words import whole

        super().__init__(layer, shape, dtype)
        form = frequencies.frequencies(self.height, self.width, self.side, self.padding, self.single)
        cycle, planes, samples = form.cycle, form.planes, self.samples
        many, more, pairs, others = (
            a * b
            for a, b in (
                (samples, self.narrow),
                (samples, self.wide),
                (self.inputs, self.wide),
                (self.outputs, self.narrow),
            )
        )

        def odd(count: int) -> int:
            return whole(count, self.dtype.itemsize)

        def lines(sides: int, count: int) -> Tensor:
            return self.room(sides, odd(cycle * count))

        turned_seen = lines(self.side, others)
        room = [
            lines(self.height, many), lines(self.side, pairs), self.room(self.height * self.width, many),
            self.room(self.rows * self.columns, more), lines(self.rows, more), self.room(planes, odd(many)),
            self.room(planes, max(odd(pairs), odd(others))), self.room(planes, odd(more)),
        ]  # fmt: skip
        flat = [_flat(a) for a in room]
        self.there = [_flat(self.filters), _flat(self.bias), *form.matrices, *flat, _flat(self.places)]
        self.again = [
            _flat(self.places), *form.matrices, *flat, _flat(self.turned), _flat(turned_seen), _flat(self.into),
            _flat(self.slope),
        ]  # fmt: skip
        self.sizes = (
            samples, self.height, self.width, self.inputs, self.side, self.rows, self.columns, self.outputs,
            self.narrow, self.wide, cycle, planes, form.fewer, self.high, self.broad,
        )  # fmt: skip

    def _forth(self, x: Any, out: Any) -> None:
        from boundcheck.engines.neural.kernels import frequencies_compiled

        frequencies_compiled.forth(self.lanes, x, *self.there, out, *self.sizes)

    def _back(self, g: Any, gx: Any, wanted: bool) -> None:
        from boundcheck.engines.neural.kernels import frequencies_compiled

        frequencies_compiled.back(self.lanes, g, *self.again, gx, wanted, *self.sizes)


def _together(each: Sequence[Tensor]) -> Tensor:
    return each[0].unsqueeze(0) if len(each) == 1 else library().stack(list(each))


def _flat(a: Tensor) -> Any:
    return a.reshape(-1).numpy()
