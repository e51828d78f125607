"""The points of a sweep: the product of its grids, and within each of its points a Latin hypercube.

Rows are numbered with the last axis fastest. The points of any range of rows are computed from their numbers alone, so
that a chunk needs no memory for the rows before it and is the same wherever it is computed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import parse_grid
from boundcheck.theory.inputs import to_float

Path = tuple[str, ...]
_U64 = np.uint64


@dataclass(frozen=True)
class Axis:
    """A grid: path in the specification, name of the column, its values, all of them exact numbers or none of them.

    given: the list or range as the specification has it. A range travels to workers as its text.
    """

    path: Path
    name: str
    values: tuple[Any, ...]
    given: Any = None

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers."""
        return isinstance(self.values[0], Fraction)

    @functools.cached_property
    def floats(self) -> NDArray[np.float64]:
        """Its numbers as doubles."""
        return np.array([to_float(v) for v in self.values])

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self.given, str):
            return range_axis, (self.path, self.name, self.given)
        return Axis, (self.path, self.name, self.values, self.given)


@functools.lru_cache(maxsize=64)
def range_axis(path: Path, name: str, given: str) -> Axis:
    """The grid of a range such as log:1:100:3 or lin:1:9:5:integer; raises BadInput."""
    whole = given.removesuffix(":integer")
    values = parse_grid(whole, f"grid: {'.'.join(path)}", integer=whole != given)
    return Axis(path, name, tuple(values), given)


@dataclass(frozen=True)
class Range:
    """An axis of the Latin hypercube: low to high, on a logarithmic scale where `log`; whole numbers if `integer`."""

    path: Path
    name: str
    low: float
    high: float
    log: bool
    integer: bool


@dataclass(frozen=True)
class Latin:
    """A Latin hypercube: `points` strata of every axis, each met once, in an order drawn from `seed`."""

    ranges: tuple[Range, ...]
    points: int
    seed: int

    def values(self, number: int, points: NDArray[np.int64]) -> NDArray[np.float64]:
        """The values of axis `number` at some points, doubles within [low, high]."""
        axis = self.ranges[number]
        index = points.astype(_U64)
        salt = _mixed(np.array([self.seed * 1000 + number], dtype=_U64))[0]
        stratum = permuted(index, self.points, int(salt))
        jitter = (_mixed(index ^ _mixed(np.array([salt], dtype=_U64))) >> _U64(11)) * 2.0**-53
        share = (stratum.astype(np.float64) + jitter) / self.points
        if axis.integer:
            whole = int(axis.high) - int(axis.low) + 1
            if axis.log:
                top = math.log((axis.high + 1) / axis.low)
                return np.minimum(np.floor(axis.low * np.exp(share * top)), axis.high)
            return axis.low + np.minimum(np.floor(share * whole), whole - 1)
        if axis.log:
            found = np.exp(math.log(axis.low) + share * math.log(axis.high / axis.low))
        else:
            found = axis.low + share * (axis.high - axis.low)
        return np.clip(found, axis.low, axis.high)


def permuted(index: NDArray[np.uint64], count: int, salt: int) -> NDArray[np.uint64]:
    """A permutation of 0..count-1 at `index`, without a table of it: a Feistel network, walked until it is inside."""
    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    mask = _U64((1 << half) - 1)
    keys = _mixed(np.arange(1, 5, dtype=_U64) + _U64(salt))

    def once(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
        left, right = x >> _U64(half), x & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        return (left << _U64(half)) | right

    found = once(index)
    while True:
        outside = np.flatnonzero(found >= count)
        if not len(outside):
            return found
        found[outside] = once(found[outside])


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    x = x + _U64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> _U64(30))) * _U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> _U64(27))) * _U64(0x94D049BB133111EB)
    return x ^ (x >> _U64(31))


@dataclass(frozen=True)
class Box:
    """Rows that are a product: the first axes at one level each, a slice of the next, all levels of the rest."""

    fixed: tuple[int, ...]
    slice: range
    rest: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of rows."""
        return len(self.slice) * math.prod(self.rest)


def boxes(shape: tuple[int, ...], start: int, stop: int) -> Iterator[Box]:
    """The rows start..stop-1 of a product of axes (last fastest) as a few boxes, in order."""
    while start < stop:
        stride, axis = 1, len(shape) - 1
        while axis > 0 and start % (stride * shape[axis]) == 0 and start + stride * shape[axis] <= stop:
            stride *= shape[axis]
            axis -= 1
        first = (start // stride) % shape[axis]
        count = min(shape[axis] - first, (stop - start) // stride)
        fixed = levels(start // (stride * shape[axis]), shape[:axis])
        yield Box(fixed, range(first, first + count), shape[axis + 1 :])
        start += count * stride


def levels(row: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The level of each axis at a row of a product of axes."""
    found: list[int] = []
    for length in reversed(shape):
        row, level = divmod(row, length)
        found.append(level)
    return tuple(reversed(found))
