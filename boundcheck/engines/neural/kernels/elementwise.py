"""Layers that look at one number at a time, and those that only rearrange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor

__all__ = ["FlattenKernel", "LastKernel", "ReluKernel", "TanhKernel"]


class ReluKernel:
    """max(x, 0), with derivative 0 at 0."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.relu()

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """Its result tells where the derivative is 1."""
        backward = library().ops.aten.threshold_backward
        y = x.relu()
        return y, lambda gy, into, wanted, adding: backward(gy, y, 0) if wanted else None


class TanhKernel:
    """tanh(x)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.tanh()

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """Its derivative is 1 - y^2."""
        backward = library().ops.aten.tanh_backward
        y = x.tanh()
        return y, lambda gy, into, wanted, adding: backward(gy, y) if wanted else None


class FlattenKernel:
    """(N, B, *sample) as (N, B, size)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.flatten(2)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The way back only puts the axes back."""
        sample = x.shape[2:]
        return x.flatten(2), lambda gy, into, wanted, adding: gy.unflatten(2, sample) if wanted else None


@dataclass(frozen=True)
class LastKernel:
    """(N, B, length, width) at the last place; both: half of it at the last place and half at the first."""

    both: bool

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        if not self.both:
            return x[:, :, -1]
        half = x.shape[-1] // 2
        return library().cat((x[:, :, -1, :half], x[:, :, 0, half:]), dim=-1)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The way back is zero elsewhere."""
        half, shape = x.shape[-1] // 2 if self.both else x.shape[-1], x.shape[1:]

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            if not wanted:
                return None
            gx = gy.new_zeros(len(gy), *shape)
            gx[:, :, -1, :half] = gy[..., :half]
            if self.both:
                gx[:, :, 0, half:] = gy[..., half:]
            return gx

        return self(x, parameters), back
