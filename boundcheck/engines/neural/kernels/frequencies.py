"""Convolutions as products of frequencies.

A cyclic convolution of images of N x N places is a product at each of its frequencies, which takes far fewer
multiplications than a product at each window: 5 x 5 at 14 x 14 places, 25 beside 432/196 = 2.2. N is the least size
at which nothing of an image wraps around onto what is wanted. Images are small here, so that the transform is a product
with a matrix along each axis, in whatever order of memory the next product likes best. All is real: of the frequencies
of a real image half are kept, and a complex product a b is three real ones,

    (re a + im a) re b,   re a (im b - re b),   im a (re b + im b)

(the first less the third is the real part, the first and the second together are the imaginary one). So a convolution
is y = C ((A x) * (B w)) with three fixed matrices, and its way back are their transposes.

What the numbers lose is what a sum in another order loses: in single precision 3e-7 of the largest result, beside 1e-6
of the sums at each window (5 x 5, 32 to 64 channels, 14 x 14, normal numbers; `benchmarks/neural_convolutions.py`). But
a sum that is exactly zero, because all that a window sees is zero, comes out as zero up to rounding.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from boundcheck.engines.curve import Floats, Ints

__all__ = ["Frequencies", "Multiplications", "frequencies", "multiplications"]


@dataclass(frozen=True)
class Multiplications:
    """What it takes: for a pair of channels, to transform a filter, an image, and results back to places."""

    planes: int
    filters: int
    images: int
    places: int


@functools.lru_cache(maxsize=64)
def multiplications(height: int, width: int, kernel: int, padding: int) -> Multiplications:
    """Their numbers for images height x width and filters kernel x kernel."""
    (n, rows), (m, columns) = (_sizes(side, kernel, padding) for side in (height, width))
    kept = m // 2 + 1

    def counted(down: int, across: int) -> int:
        return 2 * kept * down * (across + 3 * n)

    return Multiplications(3 * n * kept, counted(kernel, kernel), counted(height, width), counted(rows, columns))


def _sizes(side: int, kernel: int, padding: int) -> tuple[int, int]:
    """The places of the cycle, and those of the results, along one side of an image."""
    results = side + 2 * padding - kernel + 1
    return max(side + padding, results + kernel - 1 - padding), results


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The matrices for images of one size, with N frequencies down and the G kept ones across, each flat, row by row.

    across (2 G, width) and down (3 N, 2 height) of the images; beside (2 G, k) and below (3 N, 2 k) of the filters; up
    (2 rows, 3 N) and along (columns, 2 G) back to places. kept: G; planes: 3 N.
    """

    kept: int
    planes: int
    matrices: tuple[Any, ...]


@functools.lru_cache(maxsize=64)
def frequencies(height: int, width: int, kernel: int, padding: int, single: bool) -> Frequencies:
    """The matrices for images height x width and filters kernel x kernel that go one place at a time."""
    (n, rows), (m, columns) = (_sizes(side, kernel, padding) for side in (height, width))
    kept = m // 2 + 1

    def waves(size: int, frequencies: int, places: Floats | Ints) -> tuple[Floats, Floats]:
        """cos and sin of 2 pi f p/size, (frequencies, places)."""
        angle = 2 * math.pi / size * np.outer(np.arange(frequencies), places)
        return np.cos(angle), np.sin(angle)

    def in_turn(re: Floats, im: Floats) -> Floats:
        """Columns in turn."""
        return np.stack([re, im], axis=2).reshape(len(re), -1)

    # an image becomes sum x e^{-i(f p + g q)}: first (re, im) of each kept g, of each row
    c, s = waves(m, kept, np.arange(width))
    across = np.concatenate([c, -s])
    c, s = waves(n, n, np.arange(height))
    re, im = in_turn(c, s), in_turn(-s, c)
    down = np.concatenate([re, im, re + im])

    # a filter becomes the conjugate, sum w e^{i(f (p - padding) + g (q - padding))}: cross-correlation
    place = np.arange(kernel) - padding
    c, s = waves(m, kept, place)
    beside = np.concatenate([c, s])
    c, s = waves(n, n, place)
    re, im = in_turn(c, -s), in_turn(s, c)
    below = np.concatenate([im - re, re + im, re])  # beside re, im and re + im of the images

    # back: 1/(n m) sum of y e^{i(f p + g q)}, the frequencies that were not kept being conjugates of those that were
    c, s = (a.T / n for a in waves(n, n, np.arange(rows)))
    re, im = np.concatenate([-s, -c, c - s], axis=1), np.concatenate([c, -s, s + c], axis=1)  # of the three products
    up = np.stack([re, im], axis=1)  # rows (p, part)
    twice = np.full(kept, 2.0)
    twice[0] = 1
    if m % 2 == 0:
        twice[-1] = 1
    c, s = (a.T * twice / m for a in waves(m, kept, np.arange(columns)))
    along = np.concatenate([c, -s], axis=1)
    kind = np.float32 if single else np.float64
    made = (np.ascontiguousarray(a, dtype=kind).reshape(-1) for a in (across, down, beside, below, up, along))
    return Frequencies(kept, 3 * n, tuple(made))
