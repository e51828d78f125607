"""Compiled passes of a convolution by products of frequencies, the pooling after it and ReLU, of one model.

See `frequencies` for the matrices, and `convolution_compiled`. The frequencies across come one after the other, so
that what belongs to each stays in the caches; the way back makes it again, which takes less time than reading it from
memory.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels import convolution_compiled
from boundcheck.engines.neural.kernels.convolution_compiled import pooled, unpooled
from boundcheck.engines.neural.kernels.words import WORDS, inner, rounded, stamp, tiles, written_out
from boundcheck.engines.sampled.jit import bare

__all__ = ["back", "forth"]


@inner
def _product(
    lanes: Any, a: Any, a0: Any, ar: Any, ak: Any, at: Any, b: Any, b0: Any, bk: Any, bt: Any, c: Any, c0: Any,
    cr: Any, rows: Any, columns: Any, depth: Any, turns: Any,
) -> None:  # fmt: skip
    """C = the sum over t of A_t B_t, see `tiles`; columns: a multiple of lanes."""
    words = columns // lanes
    for j in range(0, words, WORDS):
        tiles(
            rows, min(WORDS, words - j), a, a0, ar, ak, at, b, b0 + j * lanes, bk, bt, c, c0 + j * lanes, cr, depth,
            turns, 0,
        )  # fmt: skip


@written_out
def _lines(
    lanes: Any, matrix: Any, cycle: Any, x: Any, height: Any, width: Any, count: Any, lines: Any, back: Any,
) -> None:  # fmt: skip
    """lines (height, line) of (cycle, count): a matrix (cycle, width) by each row of x (height, width, count).

    Or back: x by the matrix turned around.
    """
    line = rounded(cycle * count, lanes)
    for i in range(height):
        if back:
            _product(
                lanes, matrix, 0, 1, width, 0, lines, i * line, count, 0, x, i * width * count, count, width, count,
                cycle, 1,
            )  # fmt: skip
        else:
            _product(
                lanes, matrix, 0, width, 1, 0, x, i * width * count, count, 0, lines, i * line, count, cycle, count,
                width, 1,
            )  # fmt: skip


@written_out
def _planes(
    lanes: Any, matrix: Any, m0: Any, planes: Any, height: Any, parts: Any, lines: Any, cycle: Any, g: Any, count: Any,
    found: Any, back: Any,
) -> None:  # fmt: skip
    """found (planes, count or more): a matrix (planes, parts height) at m0 by the frequency g across of lines.

    parts: 1 where it has a real part alone. Or back: the lines by the matrix turned around.
    """
    line, plane = rounded(cycle * count, lanes), rounded(count, lanes)
    other = cycle // 2 * count  # from a real part to the imaginary one
    if back:
        for part in range(parts):
            _product(
                lanes, matrix, m0 + part * height, 1, parts * height, 0, found, 0, plane, 0, lines,
                g * count + part * other, line, height, count, planes, 1,
            )  # fmt: skip
    else:
        _product(
            lanes, matrix, m0, parts * height, 1, height, lines, g * count, line, other, found, 0, plane, planes, count,
            height, parts,
        )  # fmt: skip


@inner
def _moved(x: Any, samples: Any, spots: Any, count: Any, y: Any, wide: Any, back: Any) -> None:
    """Images x (samples, spots, count) place by place, y (spots, samples, wide), or the other way."""
    for q in range(spots):
        for s in range(samples):
            one = x[(s * spots + q) * count : (s * spots + q + 1) * count]
            other = y[(q * samples + s) * wide : (q * samples + s) * wide + count]
            if back:
                for c in range(count):
                    one[c] = other[c]
            else:
                for c in range(count):
                    other[c] = one[c]


def _make_forth(version: int) -> Any:
    def forth(
        lanes: Any, x: Any, filters: Any, bias: Any, across: Any, beside: Any, along: Any, down: Any, below: Any,
        up: Any, images: Any, seen: Any, spots: Any, y: Any, results: Any, own: Any, other: Any, product: Any,
        places: Any, out: Any, samples: Any, height: Any, width: Any, inputs: Any, side: Any, rows: Any,
        columns: Any, outputs: Any, narrow: Any, wide: Any, cycle: Any, whole: Any, fewer: Any, high: Any, broad: Any,
    ) -> None:  # fmt: skip
        """`forth` by products of frequencies; filters (side, side, inputs, wide).

        images, seen and results are lines of frequencies across: of images (height, cycle, samples, narrow), filters
        (side, cycle, inputs, wide) and results (rows, cycle, samples, wide); the way back wants the first two. own,
        other, product: the planes of a frequency across, of the three; spots, y: images and results place by place.
        """
        _ = version
        many, pairs, more = samples * narrow, inputs * wide, samples * wide
        a, b, c = rounded(many, lanes), rounded(pairs, lanes), rounded(more, lanes)
        _moved(x, samples, height * width, inputs, spots, narrow, False)
        _lines(lanes, across, cycle, spots, height, width, many, images, False)
        _lines(lanes, beside, cycle, filters, side, side, pairs, seen, False)
        for g in range(cycle // 2 + 1):
            parts = 1 if g == 0 or 2 * g == cycle else 2
            planes, last = (whole, 0) if parts == 2 else (fewer, 2 * whole)
            _planes(lanes, down, last * height, planes, height, parts, images, cycle, g, many, own, False)
            _planes(lanes, below, last * side, planes, side, parts, seen, cycle, g, pairs, other, False)
            for p in range(planes):
                _product(
                    lanes, own, p * a, narrow, 1, 0, other, p * b, wide, 0, product, p * c, wide, samples, wide, inputs,
                    1,
                )  # fmt: skip
            _planes(lanes, up, last * rows, planes, rows, parts, results, cycle, g, more, product, True)
        _lines(lanes, along, cycle, y, rows, columns, more, results, True)
        pooled(lanes, y, 0, columns, samples, wide, bias, outputs, high, broad, out, places, 0)

    return forth


def _make_back(version: int) -> Any:
    def back(
        lanes: Any, g: Any, places: Any, across: Any, beside: Any, along: Any, down: Any, below: Any, up: Any,
        images: Any, seen: Any, spots: Any, y: Any, results: Any, own: Any, other: Any, product: Any, turned: Any,
        turned_seen: Any, into: Any, slope: Any, gx: Any, wanted: Any, samples: Any, height: Any, width: Any,
        inputs: Any, side: Any, rows: Any, columns: Any, outputs: Any, narrow: Any, wide: Any, cycle: Any, whole: Any,
        fewer: Any, high: Any, broad: Any,
    ) -> None:  # fmt: skip
        """`back` by products of frequencies; turned (side, side, outputs, narrow): the filters, channels exchanged.

        What `forth` left in images and seen gives place to the gradients, frequency by frequency.
        """
        _ = version
        many, pairs, more, others = samples * narrow, inputs * wide, samples * wide, outputs * narrow
        a, b, c, d = rounded(many, lanes), rounded(pairs, lanes), rounded(more, lanes), rounded(others, lanes)
        slope[:] = 0
        if 2 * high < rows or 2 * broad < columns:
            y[:] = 0
        unpooled(lanes, g, places, 0, high, broad, outputs, y, 0, columns, samples, wide, slope)
        _lines(lanes, along, cycle, y, rows, columns, more, results, False)
        if wanted:
            _lines(lanes, beside, cycle, turned, side, side, others, turned_seen, False)
        for f in range(cycle // 2 + 1):
            parts = 1 if f == 0 or 2 * f == cycle else 2
            planes, last = (whole, 0) if parts == 2 else (fewer, 2 * whole)
            _planes(lanes, up, last * rows, planes, rows, parts, results, cycle, f, more, product, False)
            _planes(lanes, down, last * height, planes, height, parts, images, cycle, f, many, own, False)
            for p in range(planes):
                _product(
                    lanes, own, p * a, 1, narrow, 0, product, p * c, wide, 0, other, p * b, wide, inputs, wide, samples,
                    1,
                )  # fmt: skip
            _planes(lanes, below, last * side, planes, side, parts, seen, cycle, f, pairs, other, True)
            if wanted:
                _planes(lanes, below, last * side, planes, side, parts, turned_seen, cycle, f, others, other, False)
                for p in range(planes):
                    _product(
                        lanes, product, p * c, wide, 1, 0, other, p * d, narrow, 0, own, p * a, narrow, samples, narrow,
                        outputs, 1,
                    )  # fmt: skip
                _planes(lanes, down, last * height, planes, height, parts, images, cycle, f, many, own, True)
        _lines(lanes, beside, cycle, into, side, side, pairs, seen, True)
        if wanted:
            _lines(lanes, across, cycle, spots, height, width, many, images, True)
            _moved(gx, samples, height * width, inputs, spots, narrow, True)

    return back


VERSION = stamp(convolution_compiled.__file__)
forth = bare(_make_forth(VERSION))
back = bare(_make_back(VERSION))
