"""Convolutions as products of frequencies.

A cyclic convolution of images of N x N places is a product at each of its frequencies, which takes far fewer
multiplications than a product at each window: 5 x 5 at 14 x 14 places, 25 beside 432/196 = 2.2. N is the least size
at which nothing of an image wraps around onto what is wanted. Images are small here, so that the transform is a product
with a matrix along each axis, in whatever order of memory the next product likes best. All is real: of the frequencies
across of a real image half are kept, and a complex product a b is three real ones,

    (re a + im a) re b,   re a (im b - re b),   im a (re b + im b)

(the first less the third is the real part, the first and the second together are the imaginary one). The frequencies
across 0 and N/2 are real before they are transformed down, so that half of what comes out of that is enough, too, and
0 and N/2 of these take one product. So a convolution is y = C ((A x) * (B w)) with three fixed matrices, and its way
back are their transposes.

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
    inner, outer, fewer = (m - 1) // 2, 1 + (m + 1) % 2, _fewer(n)

    def counted(down: int, across: int) -> int:
        return down * (m * across + inner * 6 * n + outer * fewer)

    planes = inner * 3 * n + outer * fewer
    return Multiplications(planes, counted(kernel, kernel), counted(height, width), counted(rows, columns))


def _fewer(n: int) -> int:
    """Products for what is real before it is transformed to n frequencies."""
    return 3 * ((n - 1) // 2) + 1 + (n + 1) % 2


def _sizes(side: int, kernel: int, padding: int) -> tuple[int, int]:
    """The places of the cycle, and those of the results, along one side of an image."""
    results = side + 2 * padding - kernel + 1
    return max(side + padding, results + kernel - 1 - padding), results


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The matrices for images of one size, with a cycle of N places down and M across, each flat, row by row.

    across (M, width) of the images, beside (M, k) of the filters, along (M, columns), transposed, back to places: the
    real parts of the frequencies 0 to M/2 and the imaginary parts of those between. Then down (P, 2 height), below
    (P, 2 k) and up (P, 2 rows), transposed, for a frequency across between 0 and M/2, the columns for its real part
    first; each has behind it that for 0 and M/2, (Q, height), (Q, k) and (Q, rows). planes: P = 3 N; fewer: Q.
    """

    cycle: int
    planes: int
    fewer: int
    matrices: tuple[Any, ...]


@functools.lru_cache(maxsize=64)
def frequencies(height: int, width: int, kernel: int, padding: int, single: bool) -> Frequencies:
    """The matrices for images height x width and filters kernel x kernel that go one place at a time."""
    (n, rows), (m, columns) = (_sizes(side, kernel, padding) for side in (height, width))
    spots = np.arange(kernel) - padding

    # an image becomes sum x e^{-i(f p + g q)}; a filter the conjugate, sum w e^{i(f (p - padding) + g (q - padding))},
    # which is cross-correlation; 1/(n m) sum of y e^{i(f p + g q)} goes back
    between = _between(m)
    c, s = _waves(m, np.arange(width))
    across = np.concatenate([c, -s[between]])
    c, s = _waves(m, spots)
    beside = np.concatenate([c, s[between]])
    c, s = (wave * _often(m) / m for wave in _waves(m, np.arange(columns)))
    along = np.concatenate([c, -s[between]])

    both, real = np.arange(n), _between(n)
    c, s = _waves(n, np.arange(height), both)
    down = _of_image(np.hstack([c, s]), np.hstack([-s, c]))
    c, s = _waves(n, np.arange(height))
    down = down, _of_image(c, -s, real)
    c, s = _waves(n, spots, both)
    below = _of_filter(np.hstack([c, -s]), np.hstack([s, c]))
    c, s = _waves(n, spots)
    below = below, _of_filter(c, s, real)
    c, s = (wave / n for wave in _waves(n, np.arange(rows), both))
    up = _of_result(np.hstack([c, s]), np.hstack([-s, c]))
    c, s = (wave * _often(n) / n for wave in _waves(n, np.arange(rows)))
    up = up, _of_result(c, -s, real)

    kind = np.float32 if single else np.float64
    made = [a.reshape(-1) for a in (across, beside, along)]
    made += [np.concatenate([a.reshape(-1) for a in pair]) for pair in (down, below, up)]
    return Frequencies(m, 3 * n, _fewer(n), tuple(a.astype(kind) for a in made))


def _between(size: int) -> slice:
    """Of the frequencies 0, 1, ..., size/2 those whose waves have a sine."""
    return slice(1, (size + 1) // 2)


def _often(size: int) -> Floats:
    """How many frequencies of a real signal each of 0, 1, ..., size/2 stands for, as a column."""
    found = np.ones((size // 2 + 1, 1))
    found[_between(size)] = 2
    return found


def _waves(size: int, places: Ints, frequencies: Ints | None = None) -> tuple[Floats, Floats]:
    """cos and sin of 2 pi f p/size, (frequencies, places); frequencies: 0, 1, ..., size/2 unless given."""
    of = np.arange(size // 2 + 1) if frequencies is None else frequencies
    angle = 2 * math.pi / size * np.outer(of, places)
    return np.cos(angle), np.sin(angle)


# What of a frequency goes into the three products and what comes back of them; some: where there is an imaginary part.


def _of_image(re: Floats, im: Floats, some: slice = slice(None)) -> Floats:
    return np.concatenate([re[some], im[some], re + im])


def _of_filter(re: Floats, im: Floats, some: slice = slice(None)) -> Floats:
    return np.concatenate([(im - re)[some], (re + im)[some], re])


def _of_result(one: Floats, i: Floats, some: slice = slice(None)) -> Floats:
    """one, i: what a result of 1 and of i becomes."""
    return np.concatenate([i[some], -one[some], one + i])
