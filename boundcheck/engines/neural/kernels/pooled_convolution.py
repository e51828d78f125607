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
from boundcheck.engines.neural.kernels.bound import handed, numbers
from boundcheck.engines.neural.kernels.convolution import ConvolutionKernel
from boundcheck.engines.neural.kernels.elementwise import ReluKernel
from boundcheck.engines.neural.kernels.pooling import MaxPoolKernel
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bound, Flat, Handed, Tensor
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
    "images_back",
    "images_forth",
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
            found.append(images_forth(passes[-1], x[k], [p[k] for p in parameters]))

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            through: list[Tensor] = []
            for k, one in enumerate(passes):
                gx = images_back(one, gy[k], [place[k] for place in into], wanted, adding)
                _FREE.keep(one)
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

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model, by the compiled passes."""
        layer = self.convolution.layer
        if not compiled(layer, "cpu", parameters[0].dtype) or not given.x.is_contiguous():
            return None
        samples, *sides, channels = given.x.shape
        return _BoundPass(given, _made(layer, (samples, channels, *sides), parameters[0].dtype))


class _BoundPass:
    """A pass with what it reads and writes."""

    def __init__(self, given: Handed, one: Pass) -> None:
        self.found = handed(given.x, one.shape)
        self.one, self.size, self.wanted = one, one.size + self.found.size, given.g is not None
        gx = given.x.new_empty(0) if given.g is None else given.g
        self.x, self.y, self.g, self.gx = (numbers(a) for a in (given.x, self.found.x, self.found.g, gx))

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        return parameters, into

    def forth(self, own: Any) -> None:
        self.one.forth(self.x, own[0], self.y)

    def back(self, own: Any, adding: bool) -> None:
        self.one.back(self.g, own[1], self.gx, self.wanted, adding)


def images_forth(one: Pass, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
    """(B, outputs, high, broad) of images x (B, inputs, height, width)."""
    out = x.new_empty(one.shape)
    one.forth(_flat(x.permute(0, 2, 3, 1)), [_flat(p) for p in parameters], _flat(out))
    return out.permute(0, 3, 1, 2)


def images_back(one: Pass, g: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor | None:
    """The gradient in x, where it is wanted; it may be called once."""
    gx = g.new_empty((one.samples, one.height, one.width, one.inputs) if wanted else (0,))
    places = [a.contiguous() for a in into]
    one.back(_flat(g.permute(0, 2, 3, 1)), [_flat(a) for a in places], _flat(gx), wanted, adding)
    for target, place in zip(into, places, strict=True):
        if place is not target:
            target.copy_(place)
    return gx.permute(0, 3, 1, 2) if wanted else None


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
    return _made(*key)


def _made(layer: Convolution, shape: tuple[int, ...], dtype: Tensor) -> Pass:
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
        self.shape = self.samples, self.high, self.broad, self.outputs
        self.places = self.room(*self.shape)

    def room(self, *sides: int) -> Any:
        """A flat array of zeros for so many numbers."""
        found = numbers(library().zeros(sides, dtype=self.dtype))
        self.size += found.nbytes
        return found

    def forth(self, x: Any, parameters: Sequence[Any], out: Any) -> None:
        """out (B, high, broad, outputs) of images x (B, height, width, inputs), all flat."""
        from boundcheck.engines.neural.kernels import filters_compiled

        filters_compiled.laid_out(parameters[0], *self.form, self.wide, self.filters)
        self._forth(x, parameters[1] if len(parameters) > 1 else self.bias, out)

    def back(self, g: Any, into: Any, gx: Any, wanted: bool, adding: bool) -> None:
        """After `forth`: the gradients in the parameters into their places, and in x, where it is wanted, all flat."""
        from boundcheck.engines.neural.kernels import filters_compiled

        if wanted:
            filters_compiled.turned(
                self.lanes, self.filters, *self.form, self.wide, self.narrow, self.flipped, self.turned
            )
        self._back(g, gx, wanted)
        filters_compiled.put_back(self.into, *self.form, self.wide, into[0], adding)
        if len(into) > 1:
            if adding:
                into[1] += self.slope
            else:
                into[1][:] = self.slope

    @abstractmethod
    def _forth(self, x: Any, bias: Any, out: Any) -> None: ...

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
        self.there = framed, y, self.places
        self.again = self.places, framed, self.turned, slopes, self.into, found, self.slope
        self.sizes = (
            self.samples, self.height, self.width, self.inputs, self.side, p, self.rows, self.columns, self.outputs,
            self.narrow, self.wide, self.high, self.broad,
        )  # fmt: skip

    def _forth(self, x: Any, bias: Any, out: Any) -> None:
        from boundcheck.engines.neural.kernels import convolution_compiled

        convolution_compiled.forth(self.lanes, x, self.filters, bias, *self.there, out, *self.sizes)

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
        self.there = *form.matrices, *room, self.places
        self.again = self.places, *form.matrices, *room, self.turned, turned_seen, self.into, self.slope
        self.sizes = (
            samples, self.height, self.width, self.inputs, self.side, self.rows, self.columns, self.outputs,
            self.narrow, self.wide, cycle, planes, form.fewer, self.high, self.broad,
        )  # fmt: skip

    def _forth(self, x: Any, bias: Any, out: Any) -> None:
        from boundcheck.engines.neural.kernels import frequencies_compiled

        frequencies_compiled.forth(self.lanes, x, self.filters, bias, *self.there, out, *self.sizes)

    def _back(self, g: Any, gx: Any, wanted: bool) -> None:
        from boundcheck.engines.neural.kernels import frequencies_compiled

        frequencies_compiled.back(self.lanes, g, *self.again, gx, wanted, *self.sizes)


def _together(each: Sequence[Tensor]) -> Tensor:
    return each[0].unsqueeze(0) if len(each) == 1 else library().stack(list(each))


def _flat(a: Tensor) -> Any:
    return a.reshape(-1).numpy()
