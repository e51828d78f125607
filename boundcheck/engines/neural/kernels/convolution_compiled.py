"""Compiled passes of a convolution, the pooling after it and ReLU, of one model, there and back, on a processor.

An image at a time: what the convolution makes of it stays in the caches until it is pooled. Images lie with their
channels innermost, filters as (k, k, inputs, outputs), so that a row of a window is one run of numbers; a pixel's
outputs are words, as many numbers as the processor works on at once. A product is made of tiles, some pixels by some
words, which stay in registers while the window is run through.
"""

from __future__ import annotations

from typing import Any

from numba import types

from boundcheck.engines.neural.kernels.words import I64, WORDS, Code, Word, inner, inserted, stamp, tiles
from boundcheck.engines.sampled.jit import bare

__all__ = ["back", "forth", "pooled", "unpooled"]


@inner
def _convolved(
    lanes: Any, image: Any, x0: Any, width: Any, inputs: Any, filters: Any, side: Any, rows: Any, columns: Any,
    wide: Any, found: Any, y0: Any,
) -> None:  # fmt: skip
    """found (rows, columns, wide) at y0: the image (.., width, inputs) at x0 by filters (side, side, inputs, wide)."""
    words, run = wide // lanes, side * inputs
    for j in range(0, words, WORDS):
        n = min(WORDS, words - j)
        for r in range(rows):
            tiles(
                columns, n, image, x0 + r * width * inputs, inputs, 1, width * inputs, filters, j * lanes, wide,
                run * wide, found, y0 + r * columns * wide + j * lanes, wide, run, side, 0,
            )  # fmt: skip


@inner
def _correlated(
    lanes: Any, image: Any, x0: Any, width: Any, inputs: Any, slopes: Any, g0: Any, broad: Any, outputs: Any,
    side: Any, rows: Any, columns: Any, wide: Any, found: Any,
) -> None:  # fmt: skip
    """Adds to found (side, side, inputs, wide) the products of an image and the gradient (rows, broad, outputs) at g0.

    Of the gradient columns columns count. Words read beyond a pixel's outputs, into columns of found that no one uses.
    """
    words, run = wide // lanes, side * inputs
    for j in range(0, words, WORDS):
        n = min(WORDS, words - j)
        for u in range(side):
            tiles(
                run, n, image, x0 + u * width * inputs, 1, inputs, width * inputs, slopes, g0 + j * lanes, outputs,
                broad * outputs, found, u * run * wide + j * lanes, wide, columns, rows, 1,
            )  # fmt: skip


@inserted
def _pooled(
    typing: Any, count: Any, y: Any, y0: Any, right: Any, down: Any, bias: Any, b0: Any, out: Any, o0: Any,
    places: Any, p0: Any,
) -> Any:  # fmt: skip
    """The first count channels of a window: the largest plus the bias, or 0; and which of the four it is, or 4."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count, _, y0, right, down, _, b0, _, o0, _, p0 = args
        code = Code(context, builder, signature.args[1].dtype)
        code.first(count)
        first, low = code.place(signature.args[1], args[1], y0), builder.add(right, down)
        seen = [code.read(builder.gep(first, [step])).value for step in (I64(0), right, down, low)]
        largest, where = seen[0], code.of(0.0).value
        for q in (1, 2, 3):
            more = builder.fcmp_ordered(">", seen[q], largest)
            better = builder.or_(more, builder.fcmp_unordered("uno", seen[q], seen[q]))
            largest = builder.select(better, seen[q], largest)
            where = builder.select(better, code.of(float(q)).value, where)
        value = (Word(code, largest) + code.read(code.place(signature.args[5], args[5], b0))).value
        off = builder.fcmp_ordered("<=", value, code.of(0.0).value)
        found = builder.select(off, code.of(0.0).value, value)
        code.write(Word(code, found), code.place(signature.args[7], args[7], o0))
        code.write(
            Word(code, builder.select(off, code.of(4.0).value, where)), code.place(signature.args[9], args[9], p0)
        )
        return context.get_dummy_value()

    return types.void(count, y, y0, right, down, bias, b0, out, o0, places, p0), made


@inserted
def _unpooled(
    typing: Any, count: Any, g: Any, g0: Any, places: Any, p0: Any, y: Any, y0: Any, right: Any, down: Any,
    slope: Any, s0: Any,
) -> Any:  # fmt: skip
    """The way back of `_pooled`: the gradient at the largest of the window and 0 beside it; the bias's is added up."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        count, _, g0, _, p0, _, y0, right, down, _, s0 = args
        code = Code(context, builder, signature.args[1].dtype)
        code.first(count)
        given = code.read(code.place(signature.args[1], args[1], g0))
        where = code.read(code.place(signature.args[3], args[3], p0)).value
        first, low, nothing = code.place(signature.args[5], args[5], y0), builder.add(right, down), code.of(0.0).value
        for q, step in enumerate((I64(0), right, down, low)):
            here = builder.fcmp_ordered("==", where, code.of(float(q)).value)
            code.write(Word(code, builder.select(here, given.value, nothing)), builder.gep(first, [step]))
        on = builder.fcmp_ordered("<", where, code.of(4.0).value)
        total = code.place(signature.args[9], args[9], s0)
        code.write(code.read(total) + Word(code, builder.select(on, given.value, nothing)), total)
        return context.get_dummy_value()

    return types.void(count, g, g0, places, p0, y, y0, right, down, slope, s0), made


@inner
def pooled(
    lanes: Any, y: Any, y0: Any, columns: Any, each: Any, wide: Any, bias: Any, outputs: Any, high: Any, broad: Any,
    out: Any, places: Any, o0: Any,
) -> None:  # fmt: skip
    """Pools places (rows, columns, each, wide) at y0 by windows of 2 x 2, adds the bias, and takes ReLU.

    out (each, high, broad, outputs) at o0; places: which place of its window is the first largest, 4 where ReLU is 0.
    """
    right, down = each * wide, columns * each * wide
    for i in range(high):
        for j in range(broad):
            for s in range(each):
                at = o0 + ((s * high + i) * broad + j) * outputs
                begin = y0 + 2 * i * down + 2 * j * right + s * wide
                for c in range(0, outputs, lanes):
                    count = min(lanes, outputs - c)
                    _pooled(count, y, begin + c, right, down, bias, c, out, at + c, places, at + c)


@inner
def unpooled(
    lanes: Any, g: Any, places: Any, o0: Any, high: Any, broad: Any, outputs: Any, y: Any, y0: Any, columns: Any,
    each: Any, wide: Any, slope: Any,
) -> None:  # fmt: skip
    """The way back of `pooled`: the gradient in y, of which only the windows are written; that in the bias is added."""
    right, down = each * wide, columns * each * wide
    for i in range(high):
        for j in range(broad):
            for s in range(each):
                at = o0 + ((s * high + i) * broad + j) * outputs
                begin = y0 + 2 * i * down + 2 * j * right + s * wide
                for c in range(0, outputs, lanes):
                    count = min(lanes, outputs - c)
                    _unpooled(count, g, at + c, places, at + c, y, begin + c, right, down, slope, c)


@inner
def _framed(x: Any, x0: Any, height: Any, run: Any, into: Any, i0: Any, row: Any) -> None:
    """Copies rows of run numbers into rows that are row apart."""
    for i in range(height):
        one, other = x[x0 + i * run : x0 + (i + 1) * run], into[i0 + i * row : i0 + i * row + run]
        for k in range(run):
            other[k] = one[k]


def _make_forth(version: int) -> Any:
    def forth(
        lanes: Any, x: Any, filters: Any, bias: Any, framed: Any, y: Any, places: Any, out: Any, samples: Any,
        height: Any, width: Any, inputs: Any, side: Any, padding: Any, rows: Any, columns: Any, outputs: Any,
        narrow: Any, wide: Any, high: Any, broad: Any,
    ) -> None:  # fmt: skip
        """out and places of `pooled`, of images x (samples, height, width, inputs); framed keeps them, padded."""
        _ = version
        across = (width + 2 * padding) * inputs
        whole = (height + 2 * padding) * across
        for b in range(samples):
            _framed(
                x, b * height * width * inputs, height, width * inputs, framed,
                b * whole + padding * (across + inputs), across,
            )  # fmt: skip
            _convolved(lanes, framed, b * whole, width + 2 * padding, inputs, filters, side, rows, columns, wide, y, 0)
            pooled(lanes, y, 0, columns, 1, wide, bias, outputs, high, broad, out, places, b * high * broad * outputs)

    return forth


def _make_back(version: int) -> Any:
    def back(
        lanes: Any, g: Any, places: Any, framed: Any, turned: Any, slopes: Any, into: Any, found: Any, slope: Any,
        gx: Any, wanted: Any, samples: Any, height: Any, width: Any, inputs: Any, side: Any, padding: Any, rows: Any,
        columns: Any, outputs: Any, narrow: Any, wide: Any, high: Any, broad: Any,
    ) -> None:  # fmt: skip
        """The way back: into (side, side, inputs, wide), slope (outputs,) and, where it is wanted, gx are written.

        turned: the filters turned around, (side, side, outputs, narrow); slopes: a gradient, framed by zeros that stay.
        """
        _ = version
        frame = side - 1 - padding
        broader = columns + 2 * frame
        first = frame * (broader + 1) * outputs
        across = (width + 2 * padding) * inputs
        whole = (height + 2 * padding) * across
        into[:] = 0
        slope[:] = 0
        for b in range(samples):
            unpooled(
                lanes, g, places, b * high * broad * outputs, high, broad, outputs, slopes, first, broader, 1,
                outputs, slope,
            )  # fmt: skip
            _correlated(
                lanes, framed, b * whole, width + 2 * padding, inputs, slopes, first, broader, outputs, side, rows,
                columns, wide, into,
            )  # fmt: skip
            if wanted:
                _convolved(lanes, slopes, 0, broader, outputs, turned, side, height, width, narrow, found, 0)
                for i in range(height * width):
                    one, other = (
                        found[i * narrow : i * narrow + inputs],
                        gx[(b * height * width + i) * inputs : (b * height * width + i + 1) * inputs],
                    )
                    for c in range(inputs):
                        other[c] = one[c]

    return back


# What the passes close over changes with what they compile, see `words`.
VERSION = stamp()
forth = bare(_make_forth(VERSION))
back = bare(_make_back(VERSION))
