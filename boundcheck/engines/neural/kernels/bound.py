"""Layers of one model at a time on a processor, in memory that stays from step to step (`network.Bound`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from boundcheck.engines.neural.network import Bound, Flat, Handed, Tensor

__all__ = ["BoundChain", "handed", "numbers"]


def handed(like: Tensor, shape: Sequence[int], wanted: bool = True) -> Handed:
    """Memory for what a layer hands on, zeros of a type; wanted: whether the gradient in it is."""
    return Handed(like.new_zeros(shape), like.new_zeros(shape) if wanted else None)


def numbers(a: Tensor) -> Any:
    """The numbers of a tensor, which lie in one piece, as a flat array of NumPy."""
    return a.view(-1).numpy()


@dataclass(frozen=True)
class BoundChain:
    """Layers one after the other. layers: each with the number of its parameters."""

    layers: tuple[tuple[Bound, int], ...]

    @property
    def found(self) -> Handed:
        """What the last one hands on."""
        return self.layers[-1][0].found

    @property
    def size(self) -> int:
        """Bytes that it holds."""
        return sum(layer.size for layer, _ in self.layers)

    def bind(self, parameters: Sequence[Flat], into: Sequence[Flat]) -> list[Any]:
        """See `Bound`."""
        found, place = list[Any](), 0
        for layer, count in self.layers:
            found.append(layer.bind(parameters[place : place + count], into[place : place + count]))
            place += count
        return found

    def forth(self, own: Any) -> None:
        """See `Bound`."""
        for (layer, _), part in zip(self.layers, own, strict=True):
            layer.forth(part)

    def back(self, own: Any, adding: bool) -> None:
        """See `Bound`."""
        for k in reversed(range(len(own))):
            self.layers[k][0].back(own[k], adding)
