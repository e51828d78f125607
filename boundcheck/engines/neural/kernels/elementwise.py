"""Layers that look at one number at a time, and those that only rearrange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from boundcheck.engines.neural.kernels.bound import handed
from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Bound, Flat, Handed, Tensor

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

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model."""
        torch = library()
        backward = torch.ops.aten.threshold_backward.grad_input
        return _Each(
            given, lambda x, y: torch.clamp_min(x, 0, out=y), lambda gy, y, gx: backward(gy, y, 0, grad_input=gx)
        )


class TanhKernel:
    """tanh(x)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.tanh()

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """Its derivative is 1 - y^2."""
        backward = library().ops.aten.tanh_backward
        y = x.tanh()
        return y, lambda gy, into, wanted, adding: backward(gy, y) if wanted else None

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model."""
        torch = library()
        backward = torch.ops.aten.tanh_backward.grad_input
        return _Each(given, lambda x, y: torch.tanh(x, out=y), lambda gy, y, gx: backward(gy, y, grad_input=gx))


class FlattenKernel:
    """(N, B, *sample) as (N, B, size)."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        return x.flatten(2)

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The way back only puts the axes back."""
        sample = x.shape[2:]
        return x.flatten(2), lambda gy, into, wanted, adding: gy.unflatten(2, sample) if wanted else None

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model; here the channels of images go from the innermost place to the outermost, where torch's are."""

        def places(x: Tensor, y: Tensor) -> list[tuple[Tensor, Tensor]]:
            x = x.permute(0, 3, 1, 2) if x.ndim == 4 else x
            return [(x, y.view(x.shape))]

        return _Moved(given, (len(given.x), given.x[0].numel()), places)


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

    def bound(self, given: Handed, parameters: Sequence[Tensor]) -> Bound | None:
        """Of one model; nothing else writes into the gradient in what came in, which is zero elsewhere."""
        samples, _, width = given.x.shape
        half = width // 2 if self.both else width

        def places(x: Tensor, y: Tensor) -> list[tuple[Tensor, Tensor]]:
            found = [(x[:, -1, :half], y[:, :half])]
            return [*found, (x[:, 0, half:], y[:, half:])] if self.both else found

        return _Moved(given, (samples, width), places)


class _Stateless:
    """A layer of one model without parameters."""

    def __init__(self, given: Handed, shape: Sequence[int]) -> None:
        self.given, self.found = given, handed(given.x, shape, given.g is not None)
        self.size = self.found.size

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> Any:
        """There is nothing to take."""


class _Each(_Stateless):
    """A function of each number; its way back looks at the results. Both write into their last argument."""

    def __init__(self, given: Handed, function: Callable[..., Any], backward: Callable[..., Any]) -> None:
        super().__init__(given, given.x.shape)
        self.function, self.backward = function, backward

    def forth(self, own: Any) -> None:
        self.function(self.given.x, self.found.x)

    def back(self, own: Any, adding: bool) -> None:
        if self.given.g is not None:
            self.backward(self.found.g, self.found.x, self.given.g)


class _Moved(_Stateless):
    """Numbers that stand elsewhere. places: what is left (B, ...) of what comes in and where it goes."""

    def __init__(
        self, given: Handed, shape: Sequence[int], places: Callable[[Tensor, Tensor], Sequence[tuple[Tensor, Tensor]]]
    ) -> None:
        super().__init__(given, shape)
        self.there = [(a.numpy(), b.numpy()) for a, b in places(given.x, self.found.x)]
        self.again = [] if given.g is None else [(a.numpy(), b.numpy()) for a, b in places(given.g, self.found.g)]

    def forth(self, own: Any) -> None:
        for x, y in self.there:
            y[:] = x

    def back(self, own: Any, adding: bool) -> None:
        for x, y in self.again:
            x[:] = y
