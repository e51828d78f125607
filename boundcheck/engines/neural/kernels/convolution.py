"""Convolutions of many models.

Three ways to the same numbers, and how one is chosen:

"grouped": one convolution whose groups are the models. On a GPU, and on a processor where a model's windows have few
    values (`FEW`).
"columns": the windows are copied out and multiplied, all models in one batched product. On a processor where a window
    has few values (`NARROW`), as in a first layer of grey images.
"each": one model after the other, images with channels innermost. On a processor for the rest: a model's work alone
    fills it, and its library has fast code for one convolution (5 x 5 from 32 to 64 channels at the speed of a large
    matrix product), and for the pooling of such images, not of the others.

Measured in float32 on one thread, forward and back, in ms a model of 10 ("columns", "each", "grouped"): 3 x 3 from 8 to
16 channels, 10 images of 8 x 8: 0.47, 0.62, 0.28; 5 x 5 from 8 to 16, 14 x 14: 4.3, 1.4, 1.2; 3 x 3 from 16 to 16,
32 x 32: 18, 3.5, 4.5; 5 x 5 from 1 to 32, 28 x 28, forward and the weight's gradient: 0.37, 0.60, 2.3.

Where all models see the same images, "shared", their filters make one wide convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from boundcheck.engines.neural.kernels.dense import product, put_product
from boundcheck.engines.neural.kernels.plain import put
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor
from boundcheck.problems.architectures import Convolution
from boundcheck.problems.architectures.layers import Shape

__all__ = ["FEW", "NARROW", "ConvolutionKernel", "Way"]

Way = Literal["grouped", "columns", "each"]
FEW = 1 << 18  # values in the windows of a model's samples
NARROW = 32  # values in a window
_OUTWARD = 4  # channels up to which windows are copied place by place, not position by position


@dataclass(frozen=True)
class ConvolutionKernel:
    """A two-dimensional convolution; parameters weight (N, outputs, inputs, k, k) and, where there is one, bias.

    way: fixed, or None for the choice above.
    """

    layer: Convolution
    way: Way | None = None

    def choose(self, x: Tensor) -> Way:
        """The way for images (N or 1, B, inputs, height, width)."""
        if self.way is not None:
            return self.way
        if x.device.type != "cpu":
            return "grouped"
        if self._width <= NARROW:
            return "columns"
        return "each" if self.one_by_one(tuple(x.shape[2:]), x.shape[1]) else "grouped"

    def one_by_one(self, given: Shape, samples: int) -> bool:
        """Whether so many images of a shape are worth the way "each" on a processor."""
        _, height, width = self.layer.shape(given)
        return self._width > NARROW and self._width * samples * height * width > FEW

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        way = self.choose(x)
        weight, bias = parameters[0], parameters[1] if len(parameters) > 1 else None
        if x.shape[0] != weight.shape[0]:
            return self._shared(x, weight, bias)
        if way == "grouped":
            return self._grouped(x, weight, bias)
        if way == "columns":
            return self._images(product(self._columns(x), self._filters(weight), bias), x)
        convolve = library().nn.functional.conv2d
        found = [
            convolve(_inwards(x[k]), weight[k], None if bias is None else bias[k], self._stride, self._padding)
            for k in range(weight.shape[0])
        ]
        return _stacked(found)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The same ways back; nothing is recorded."""
        way = self.choose(x)
        weight = parameters[0]
        if x.shape[0] != weight.shape[0]:
            x = x.expand(weight.shape[0], *x.shape[1:])
        if way == "columns":
            return self._traced_columns(x, parameters)
        backward = library().ops.aten.convolution_backward
        lanes = weight.shape[0]

        def gradients(gy: Tensor, wide: Tensor, own: Tensor, groups: int, wanted: bool) -> tuple[Tensor, ...]:
            sizes = [own.shape[0]] if self.layer.bias else None
            asked = [wanted, True, self.layer.bias]
            return backward(gy, wide, own, sizes, self._stride, self._padding, [1, 1], False, [0, 0], groups, asked)

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if way == "grouped":
                wide = x.transpose(0, 1).flatten(1, 2)
                found = gradients(gy.transpose(0, 1).flatten(1, 2), wide, weight.flatten(0, 1), lanes, wanted)
                for target, gradient in zip(into, found[1:], strict=False):
                    put(gradient.reshape(target.shape), target, adding)
                return found[0].unflatten(1, (lanes, -1)).transpose(0, 1) if wanted else None
            through: list[Tensor] = []
            for k in range(lanes):
                found = gradients(_inwards(gy[k]), _inwards(x[k]), weight[k], 1, wanted)
                through.append(found[0])
                for target, gradient in zip(into, found[1:], strict=False):
                    put(gradient, target[k], adding)
            return _stacked(through) if wanted else None

        return self(x, parameters), back

    @property
    def _stride(self) -> list[int]:
        return [self.layer.stride] * 2

    @property
    def _padding(self) -> list[int]:
        return [self.layer.padding] * 2

    def _shared(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        wide = None if bias is None else bias.reshape(-1)
        y = library().nn.functional.conv2d(x[0], weight.flatten(0, 1), wide, self._stride, self._padding)
        return y.unflatten(1, weight.shape[:2]).transpose(0, 1)

    def _grouped(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        lanes, wide = weight.shape[0], None if bias is None else bias.reshape(-1)
        images = x.transpose(0, 1).flatten(1, 2)
        convolve = library().nn.functional.conv2d
        y = convolve(images, weight.flatten(0, 1), wide, self._stride, self._padding, 1, lanes)
        return y.unflatten(1, (lanes, -1)).transpose(0, 1)

    def _columns(self, x: Tensor) -> Tensor:
        """The windows (N, B * positions, k * k * inputs) of images that lie with their channels innermost."""
        k, stride, p = self.layer.kernel, self.layer.stride, self.layer.padding
        inward = x.permute(0, 1, 3, 4, 2)  # N, B, height, width, channels
        if p:
            inward = library().nn.functional.pad(inward, (0, 0, p, p, p, p))
        windows = inward.unfold(2, k, stride).unfold(3, k, stride)  # N, B, rows, columns, channels, k, k
        if self.layer.inputs <= _OUTWARD:  # long runs along a row of the image
            outward = windows.permute(0, 5, 6, 4, 1, 2, 3)
            return outward.reshape(x.shape[0], self._width, -1).mT
        return windows.permute(0, 1, 2, 3, 5, 6, 4).reshape(x.shape[0], -1, self._width)

    @property
    def _width(self) -> int:
        return self.layer.kernel**2 * self.layer.inputs

    def _filters(self, weight: Tensor) -> Tensor:
        """(N, outputs, k * k * inputs), in the order of the windows."""
        return weight.permute(0, 1, 3, 4, 2).reshape(*weight.shape[:2], -1)

    def _images(self, y: Tensor, x: Tensor) -> Tensor:
        """Results (N, B * positions, outputs) as images (N, B, outputs, rows, columns)."""
        _, rows, columns = self.layer.shape(tuple(x.shape[2:]))
        return y.view(y.shape[0], x.shape[1], rows, columns, -1).permute(0, 1, 4, 2, 3)

    def _traced_columns(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        torch = library()
        windows, filters = self._columns(x), self._filters(parameters[0])
        y = product(windows, filters, parameters[1] if len(parameters) > 1 else None)

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            flat = gy.permute(0, 1, 3, 4, 2).reshape(y.shape)
            k = self.layer.kernel
            gx = self._together(torch.bmm(flat, filters), x) if wanted else None
            found = torch.empty_like(filters)
            put_product(flat.mT, windows, found, False)
            # the filters of a 1 x 1 kernel are the weight itself, so that this comes after gx
            put(found.view(*found.shape[:2], k, k, -1).permute(0, 1, 4, 2, 3), into[0], adding)
            if len(into) > 1:
                put(flat.sum(dim=1), into[1], adding)
            return gx

        return self._images(y, x), back

    def _together(self, windows: Tensor, x: Tensor) -> Tensor:
        """The sum at each place of the images x of the windows (N, B * positions, k * k * inputs) that cover it."""
        k, stride, p = self.layer.kernel, self.layer.stride, self.layer.padding
        lanes, samples, channels, height, width = x.shape
        _, rows, columns = self.layer.shape((channels, height, width))
        parts = windows.view(lanes, samples, rows, columns, k, k, channels)
        total = windows.new_zeros(lanes, samples, height + 2 * p, width + 2 * p, channels)
        for i in range(k):
            for j in range(k):
                down = slice(i, i + stride * (rows - 1) + 1, stride)
                across = slice(j, j + stride * (columns - 1) + 1, stride)
                total[:, :, down, across] += parts[:, :, :, :, i, j]
        return total[:, :, p : p + height, p : p + width].permute(0, 1, 4, 2, 3)


def _inwards(images: Tensor) -> Tensor:
    """Images (B, channels, height, width) with their channels innermost in memory."""
    return images.contiguous(memory_format=library().channels_last)


def _stacked(images: Sequence[Tensor]) -> Tensor:
    """Images of each model as (N, B, channels, height, width), channels still innermost in memory."""
    if len(images) == 1:
        return images[0].unsqueeze(0)
    return library().stack([a.permute(0, 2, 3, 1) for a in images]).permute(0, 1, 4, 2, 3)
