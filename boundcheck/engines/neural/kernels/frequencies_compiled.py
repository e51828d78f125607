"""Compiled passes of a convolution by products of frequencies, the pooling after it and ReLU, of one model.

See `frequencies` for the matrices, and `convolution_compiled`. The frequencies across come one after the other, so
that what belongs to each stays in the caches; the way back makes it again, which takes less time than reading it from
memory.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels import convolution_compiled
from boundcheck.engines.neural.kernels.convolution_compiled import pooled, unpooled
from boundcheck.engines.neural.kernels.words import FITTING, WORDS, inner, rounded, stamp, tile, written_out
from boundcheck.engines.sampled.jit import bare

__all__ = ["back", "forth"]


@inner
def _product(
    lanes: Any, a: Any, a0: Any, ar: Any, ak: Any, at: Any, b: Any, b0: Any, bk: Any, bt: Any, c: Any, c0: Any,
    cr: Any, rows: Any, columns: Any, depth: Any, turns: Any,
) -> None:  # fmt: skip
    """C = the sum over t of A_t B_t, see `tile`; columns: a multiple of lanes."""
    words = columns // lanes
    for j in range(0, words, WORDS):
        n = min(WORDS, words - j)
        i = 0
        while i < rows:
            m = FITTING[16 * n + min(15, rows - i)]
            tile(
                m, n, a, a0 + i * ar, ar, ak, at, b, b0 + j * lanes, bk, bt, c,
                c0 + i * cr + j * lanes, cr, depth, turns, 0,
            )  # fmt: skip
            i += m


@written_out
def _rows(
    lanes: Any, matrix: Any, ar: Any, ak: Any, kept: Any, x: Any, height: Any, width: Any, count: Any, rows: Any,
) -> None:  # fmt: skip
    """rows (height, 2, line) of (kept, count): each row of x (height, width, count) by a matrix (2 kept, width)."""
    line = rounded(kept * count, lanes)
    for i in range(height):
        for part in range(2):
            _product(
                lanes, matrix, part * kept * ar, ar, ak, 0, x, i * width * count, count, 0, rows, (2 * i + part) * line,
                count, kept, count, width, 1,
            )  # fmt: skip


@written_out
def _planes(
    lanes: Any, matrix: Any, ar: Any, ak: Any, planes: Any, height: Any, kept: Any, rows: Any, g: Any, count: Any,
    found: Any,
) -> None:  # fmt: skip
    """found (planes, count or more): the frequency g across of rows (2 height, line) by a matrix (planes, 2 height)."""
    line, plane = rounded(kept * count, lanes), rounded(count, lanes)
    _product(
        lanes, matrix, 0, ar, ak, 0, rows, g * count, line, 0, found, 0, plane, planes, count, 2 * height, 1
    )  # fmt: skip


@written_out
def _lines(
    lanes: Any, matrix: Any, ar: Any, ak: Any, planes: Any, height: Any, kept: Any, rows: Any, g: Any, count: Any,
    given: Any,
) -> None:  # fmt: skip
    """The frequency g across of rows (2 height, line): a matrix (2 height, planes) by what is given of it."""
    line, plane = rounded(kept * count, lanes), rounded(count, lanes)
    _product(
        lanes, matrix, 0, ar, ak, 0, given, 0, plane, 0, rows, g * count, line, 2 * height, count, planes, 1
    )  # fmt: skip


@written_out
def _places(
    lanes: Any, matrix: Any, ar: Any, ak: Any, height: Any, width: Any, kept: Any, rows: Any, count: Any, found: Any,
) -> None:  # fmt: skip
    """found (height, width, count): rows (height, 2, line) of (kept, count) by a matrix (width, 2 kept)."""
    line = rounded(kept * count, lanes)
    for i in range(height):
        _product(
            lanes, matrix, 0, ar, ak, kept * ak, rows, 2 * i * line, count, line, found, i * width * count, count,
            width, count, kept, 2,
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
        lanes: Any, x: Any, filters: Any, bias: Any, across: Any, down: Any, beside: Any, below: Any, up: Any,
        along: Any, images: Any, seen: Any, spots: Any, y: Any, lines: Any, own: Any, other: Any, product: Any,
        places: Any, out: Any, samples: Any, height: Any, width: Any, inputs: Any, side: Any, rows: Any,
        columns: Any, outputs: Any, narrow: Any, wide: Any, planes: Any, kept: Any, high: Any, broad: Any,
    ) -> None:  # fmt: skip
        """`forth` by products of frequencies; filters (side, side, inputs, wide).

        images (2 height, kept, samples, narrow) and seen (2 side, kept, inputs, wide) are what the way back
        wants of both. own, other, product: the planes of a frequency across, of images, filters and results; spots, y:
        images and results place by place; lines: of the results.
        """
        _ = version
        many, pairs, more = samples * narrow, inputs * wide, samples * wide
        a, b, c = rounded(many, lanes), rounded(pairs, lanes), rounded(more, lanes)
        _moved(x, samples, height * width, inputs, spots, narrow, False)
        _rows(lanes, across, width, 1, kept, spots, height, width, many, images)
        _rows(lanes, beside, side, 1, kept, filters, side, side, pairs, seen)
        for g in range(kept):
            _planes(lanes, down, 2 * height, 1, planes, height, kept, images, g, many, own)
            _planes(lanes, below, 2 * side, 1, planes, side, kept, seen, g, pairs, other)
            for p in range(planes):
                _product(
                    lanes, own, p * a, narrow, 1, 0, other, p * b, wide, 0, product, p * c, wide, samples, wide, inputs,
                    1,
                )  # fmt: skip
            _lines(lanes, up, planes, 1, planes, rows, kept, lines, g, more, product)
        _places(lanes, along, 2 * kept, 1, rows, columns, kept, lines, more, y)
        pooled(lanes, y, 0, columns, samples, wide, bias, outputs, high, broad, out, places, 0)

    return forth


def _make_back(version: int) -> Any:
    def back(
        lanes: Any, g: Any, places: Any, across: Any, down: Any, beside: Any, below: Any, up: Any, along: Any,
        images: Any, seen: Any, spots: Any, y: Any, lines: Any, own: Any, other: Any, product: Any, turned: Any,
        turned_seen: Any, into: Any, slope: Any, gx: Any, wanted: Any, samples: Any, height: Any, width: Any,
        inputs: Any, side: Any, rows: Any, columns: Any, outputs: Any, narrow: Any, wide: Any, planes: Any,
        kept: Any, high: Any, broad: Any,
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
        _rows(lanes, along, 1, 2 * kept, kept, y, rows, columns, more, lines)
        if wanted:
            _rows(lanes, beside, side, 1, kept, turned, side, side, others, turned_seen)
        for f in range(kept):
            _planes(lanes, up, 1, planes, planes, rows, kept, lines, f, more, product)
            _planes(lanes, down, 2 * height, 1, planes, height, kept, images, f, many, own)
            for p in range(planes):
                _product(
                    lanes, own, p * a, 1, narrow, 0, product, p * c, wide, 0, other, p * b, wide, inputs, wide, samples,
                    1,
                )  # fmt: skip
            _lines(lanes, below, 1, 2 * side, planes, side, kept, seen, f, pairs, other)
            if wanted:
                _planes(lanes, below, 2 * side, 1, planes, side, kept, turned_seen, f, others, other)
                for p in range(planes):
                    _product(
                        lanes, product, p * c, wide, 1, 0, other, p * d, narrow, 0, own, p * a, narrow, samples, narrow,
                        outputs, 1,
                    )  # fmt: skip
                _lines(lanes, down, 1, 2 * height, planes, height, kept, images, f, many, own)
        _places(lanes, beside, 1, side, side, side, kept, seen, pairs, into)
        if wanted:
            _places(lanes, across, 1, width, height, width, kept, images, many, spots)
            _moved(gx, samples, height * width, inputs, spots, narrow, True)

    return back


VERSION = stamp(convolution_compiled.__file__)
forth = bare(_make_forth(VERSION))
back = bare(_make_back(VERSION))
