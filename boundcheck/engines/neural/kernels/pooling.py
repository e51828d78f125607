"""Pooling of many models' images, and how their images lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boundcheck.engines.neural.kernels.plain import Plain
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor

__all__ = ["GlobalMeanKernel", "MaxPoolKernel", "lanes_inside"]


def lanes_inside(x: Tensor) -> bool:
    """Whether the images (N, B, channels, height, width) lie sample by sample, the models' channels beside each other.

    That is how grouped convolutions take and return them; otherwise they lie model by model.
    """
    return x.shape[0] > 1 and x.shape[1] > 1 and x.stride(1) > x.stride(0)


@dataclass(frozen=True)
class MaxPoolKernel:
    """The largest value of each window."""

    size: int
    stride: int
    padding: int

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        pool = library().nn.functional.max_pool2d
        if lanes_inside(x):
            y = pool(x.transpose(0, 1).flatten(1, 2), self.size, self.stride, self.padding)
            return y.unflatten(1, (x.shape[0], -1)).transpose(0, 1)
        return pool(x.flatten(0, 1), self.size, self.stride, self.padding).unflatten(0, x.shape[:2])

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The way back goes to the first largest value of each window."""
        aten = library().ops.aten
        inside = lanes_inside(x)
        wide = x.transpose(0, 1).flatten(1, 2) if inside else x.flatten(0, 1)
        size, stride, padding = [self.size] * 2, [self.stride] * 2, [self.padding] * 2
        y, places = aten.max_pool2d_with_indices(wide, size, stride, padding)

        def apart(a: Tensor) -> Tensor:
            return a.unflatten(1, (x.shape[0], -1)).transpose(0, 1) if inside else a.unflatten(0, x.shape[:2])

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not wanted:
                return None
            gy = gy.transpose(0, 1).flatten(1, 2) if inside else gy.flatten(0, 1)
            return apart(aten.max_pool2d_with_indices_backward(gy, wide, size, stride, padding, [1, 1], False, places))

        return apart(y), back


class GlobalMeanKernel(Plain):
    """The mean over all positions of each channel."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.mean(dim=(3, 4))
