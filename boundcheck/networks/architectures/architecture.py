"""An architecture: layers one after the other, and where each parameter stands in the flat vector of the model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundcheck.core import streams
from boundcheck.networks.architectures.layers import Layer, Parameter, Residual, Shape

START = 1010  # purpose of the streams that draw starts; round: the number of the slot


@dataclass(frozen=True)
class Slot:
    """A parameter in the flat vector: coordinates offset to offset + size, in C order.

    name: as in PyTorch: the places of its layers, counted from 0, and its own name, such as "3.body.0.weight".
    """

    name: str
    parameter: Parameter
    offset: int

    @property
    def size(self) -> int:
        """How many coordinates it has."""
        return math.prod(self.parameter.shape)


@dataclass(frozen=True)
class Architecture:
    """A model: scores of each class for a sample.

    layers: one after the other; inputs: shape of a sample, (channels, height, width), (features,) or (length,) where
    these are symbols; classes: how many scores it returns. kind: what a sample is.
    """

    name: str
    layers: tuple[Layer, ...]
    inputs: Shape
    classes: int
    kind: Literal["image", "features", "tokens"]

    def __post_init__(self) -> None:
        at = self.inputs
        for layer in self.layers:
            at = layer.shape(at)
        if at != (self.classes,):
            raise ValueError(f"the architecture {self.name} ends in the shape {list(at)}, not in {self.classes} scores")

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """All parameters, in the order of the flat vector."""
        found, offset = list[Slot](), 0
        for name, parameter in _walk(self.layers, ""):
            found.append(Slot(name, parameter, offset))
            offset += found[-1].size
        return tuple(found)

    @property
    def dim(self) -> int:
        """How many coordinates a model has."""
        return self.slots[-1].offset + self.slots[-1].size

    def start(self, seed: int) -> NDArray[np.float64]:
        """A start (dim,), a function of the seed alone; the same on every device."""
        found = np.empty(self.dim)
        for k, slot in enumerate(self.slots):
            own, p = slice(slot.offset, slot.offset + slot.size), slot.parameter
            if p.start in ("ones", "zeros"):
                found[own] = float(p.start == "ones")
                continue
            words = streams.words([streams.check_seed(seed)], START, k, 0, 0, slot.size)[0]
            u = (words.astype(np.float64) + 0.5) * 2.0**-64
            if p.start == "uniform":
                found[own] = p.width * (2 * u - 1)
            else:
                from scipy.special import ndtri

                found[own] = p.width * ndtri(np.clip(u, 2.0**-54, 1 - 2.0**-53))
        return found


def _walk(layers: Sequence[Layer], above: str) -> Iterator[tuple[str, Parameter]]:
    for k, layer in enumerate(layers):
        if isinstance(layer, Residual):
            yield from _walk(layer.body, f"{above}{k}.body.")
            yield from _walk(layer.shortcut, f"{above}{k}.shortcut.")
        else:
            for parameter in layer.parameters():
                yield f"{above}{k}.{parameter.name}", parameter
