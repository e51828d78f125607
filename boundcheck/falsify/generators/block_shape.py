"""What instances with averaged blocks have in common: blocks, clients and weights, apart from their numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats
from boundcheck.falsify.generator import Numbers
from boundcheck.falsify.generators.special import balanced


@dataclass(frozen=True)
class Shape:
    """What a batch has in common.

    partition: coordinates of each block, tau of them. order: of the averages. weights: p_i. data: whether averages have
    these weights rather than 1/m. coupled: whether H has entries between blocks. rank, pairs: columns of G, noise
    vectors a client. alike: whether all clients have one objective. scaled: whether the a_i differ.
    """

    partition: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    weights: tuple[Fraction, ...]
    data: bool
    coupled: bool
    rank: int
    pairs: int
    alike: bool
    scaled: bool

    @property
    def m(self) -> int:
        """Clients."""
        return len(self.weights)

    @property
    def tau(self) -> int:
        """Blocks."""
        return len(self.partition)

    @property
    def dim(self) -> int:
        """Coordinates."""
        return sum(map(len, self.partition))

    @property
    def p(self) -> Floats:
        """The clients' weights, (m,)."""
        return np.array([float(w) for w in self.weights])

    @property
    def averaging(self) -> Floats:
        """The weights of the averages, (m,)."""
        return self.p if self.data else np.full(self.m, 1 / self.m)

    def mask(self) -> Any:
        """(d, d): 1 where H may have an entry, else 0."""
        block = np.empty(self.dim, dtype=int)
        for j, coordinates in enumerate(self.partition):
            block[[*coordinates]] = j
        return (self.coupled | (block[:, None] == block[None, :])).astype(int)

    def without_client(self, k: int) -> Shape:
        """The others keep their weights relative to each other."""
        left = [w for i, w in enumerate(self.weights) if i != k]
        return replace(self, weights=tuple(w / sum(left, Fraction(0)) for w in left))

    def without_coordinate(self, k: int) -> Shape | None:
        """None if fewer than two coordinates or blocks would be left."""
        moved = [tuple(i - (i > k) for i in block if i != k) for block in self.partition]
        left = tuple(block for block in moved if block)
        if self.dim <= 2 or len(left) < 2:
            return None
        gone = next((j for j, block in enumerate(moved) if not block), self.tau)
        order = tuple(j - (j > gone) for j in self.order if j != gone)
        return replace(self, partition=left, order=order)


def hessian(shape: Shape, numbers: Numbers) -> Any:
    """H = G G' without the entries that the shape leaves out, (..., d, d)."""
    factor = numbers["factor"]
    return shape.mask() * (factor @ np.swapaxes(factor, -1, -2))


def covariance(shape: Shape, numbers: Numbers) -> Floats:
    """Of the noise of a step of each client, (B, m, d, d)."""
    noise = numbers["noise"]
    found = np.einsum("bmsi,bmsj->bmij", noise, noise) / shape.pairs
    return np.broadcast_to(found, (len(found), shape.m, shape.dim, shape.dim))


def pushes(shape: Shape, numbers: Numbers) -> Any:
    """The b_i of all clients, (..., m, d)."""
    return balanced(numbers["b"], shape.weights)
