"""The way back through any layer: by autograd, one layer at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from boundcheck.engines.neural.library import library
from boundcheck.engines.neural.network import Back, Tensor

__all__ = ["Plain", "own", "put"]


def put(gradient: Tensor, into: Tensor, adding: bool) -> None:
    """Writes a gradient into its place, or adds it to what is there."""
    if adding:
        into.add_(gradient)
    else:
        into.copy_(gradient)


class Plain:
    """A layer whose way back is not written by hand."""

    def __call__(self, x: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        raise NotImplementedError

    def traced(self, x: Tensor, parameters: Sequence[Tensor]) -> tuple[Tensor, Back]:
        """The layer, recorded by autograd for one way back."""
        torch = library()
        with torch.enable_grad():
            given: list[Any] = [own(a) for a in (x, *parameters)]
            y = self(given[0], given[1:])

        def back(gy: Tensor, into: Sequence[Tensor], wanted: bool, adding: bool) -> Tensor:
            asked = given if wanted else given[1:]
            if not asked:
                return None
            found = torch.autograd.grad(y, asked, gy)
            for target, gradient in zip(into, found[1:] if wanted else found, strict=True):
                put(gradient, target, adding)
            return found[0] if wanted else None

        return y.detach(), back


def own(a: Tensor) -> Tensor:
    """The same numbers as a leaf of autograd that does not see changes in place: they come when it is done."""
    return a.data.requires_grad_()
