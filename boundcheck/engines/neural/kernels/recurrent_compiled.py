"""Compiled passes of one layer of long short-term memory of one model, there and back, on a processor.

The layout, row by row in flat arrays, with widths rounded up by `whole`. Places s go through time in the order of the
pass:

z: for each place and sample, what the gates are made of: the state before it, what comes in, and a 1; at its end the
    last state alone.
gates: for each place and sample, the four gates after their activations, later the gradients before them.
cells: for each place and sample, the cell before it, at its end the last.
bent: for each place and sample, the hyperbolic tangent of the cell after it.
forward, backward: the weights (gates x columns of z: recurrent weight, input weight, sum of the biases), as second
    factors of the products there and back, in panels of a tile's width: (panels of gates, columns of z, PANEL) and
    (panels of columns of z, gates, PANEL). Each gate v is measured so that what its activation takes is a power of 2:
    u = -v / log 2 for a sigmoid, u = 2 v / log 2 for the hyperbolic tangent.
turned: the gradient in the weights, a row for each column of z.

By the matrix unit, in float32, factors are laid out as `matrix_unit` says: the weights once, z and the gates as they
come.
"""

from __future__ import annotations

from typing import Any

from boundcheck.engines.neural.kernels import matrix_unit, recurrent_words
from boundcheck.engines.neural.kernels.matrix_unit import left, product, right
from boundcheck.engines.neural.kernels.recurrent_words import (
    DEEP,
    TILE,
    cell,
    cell_back,
    multiply,
    packed,
    unit_of,
)
from boundcheck.engines.neural.kernels.words import ahead, inner, put, put_more, rounded, stamp, turned_square
from boundcheck.engines.sampled.jit import bare

__all__ = ["CHUNK", "back", "back_by_unit", "forth", "forth_by_unit"]

CHUNK = 160  # rows that the matrix unit takes at once, or those of one time
FAR = 1 << 18  # numbers of the gates that do not stay in the nearer caches


@inner
def _in_squares(panels: Any, rows: Any, depth: Any, columns: Any, panel: Any, into: Any) -> None:
    """Lays out weights for the matrix unit: panels (.., rows, panel), of which depth rows and columns count."""
    place = 0
    for column in range(0, columns, panel):
        some = min(panel, columns - column)
        place = right(panels, column * rows, panel, depth, some, into, place)


@inner
def _turned_by_unit(
    lanes: Any, z: Any, z0: Any, zr: Any, gates: Any, g0: Any, gr: Any, rows: Any, wide: Any, columns: Any,
    turned: Any, adding: Any, first: Any, second: Any, room: Any,
) -> None:  # fmt: skip
    """turned (+)= z' gates, of so many rows."""
    broad = rounded(rows, lanes)
    for row in range(0, rows, lanes):
        for column in range(0, wide, lanes):
            turned_square(z, z0 + row * zr + column, zr, room, column * broad + row, broad)
    left(room, 0, broad, wide, rows, first)
    right(gates, g0, gr, rows, columns, second, 0)
    product(first, second, turned, 0, gr, wide, columns, rows, adding)


def _make_added(version: int) -> Any:
    def added(
        turned: Any, square: Any, taken: Any, kept: Any, bias: Any, other: Any, given: Any, hidden: Any, lanes: Any,
        adding: Any,
    ) -> None:  # fmt: skip
        """Puts the gradient in the weights in its places; square: room for a word's number of rows of z's width."""
        _, wide, gr = version, hidden + given + 1, rounded(4 * hidden, lanes)
        zr = rounded(wide, lanes)
        for first in range(0, 4 * hidden, lanes):
            for column in range(0, zr, lanes):
                turned_square(turned, column * gr + first, gr, square, column, zr)
            for row in range(first, min(first + lanes, 4 * hidden)):
                unit, start = kept.dtype.type(unit_of(row, hidden)), (row - first) * zr
                if not adding:
                    kept[row * hidden : (row + 1) * hidden] = 0.0
                    taken[row * given : (row + 1) * given] = 0.0
                    bias[row] = other[row] = 0.0
                put_more(square, start, kept, row * hidden, hidden, unit)
                put_more(square, start + hidden, taken, row * given, given, unit)
                put_more(square, start + wide - 1, bias, row, 1, unit)
                put_more(square, start + wide - 1, other, row, 1, unit)

    return added


def _make_forth(version: int, unit: bool) -> Any:
    def forth(entry: Any, parameters: Any, arrays: Any, squares: Any, sizes: Any) -> None:
        """The way there.

        entry: what comes in: a flat array, where the pass begins there, and how far places and samples are apart;
        parameters: PyTorch's four, flat; arrays: forward, backward, z, gates, cells and bent; squares: for the matrix
        unit, the weights there and back, room for a first and for a second factor, and for rows of z that become
        columns; sizes: length, samples, inputs, hidden, and numbers of a word.
        """
        _, (x, x0, xs, xb), (taken, kept, bias, other) = version, entry, parameters
        forward, backward, z, gates, cells, bent = arrays
        length, samples, given, hidden, lanes = sizes
        wide, panel = hidden + given + 1, TILE * lanes
        zr, gr = rounded(wide, lanes), rounded(4 * hidden, lanes)
        one, far = z.dtype.type(1), length * samples * gr > FAR
        packed(taken, kept, bias, other, forward, backward, given, hidden, lanes)
        if unit:
            _in_squares(forward, zr, wide, 4 * hidden, panel, squares[0])
            _in_squares(backward, gr, 4 * hidden, hidden + given, panel, squares[1])
        cells[: samples * hidden] = 0.0
        for b in range(samples):
            z[b * zr : b * zr + hidden] = 0.0
        for s in range(length):
            first = s * samples
            for b in range(samples):
                start, place = (first + b) * zr + hidden, x0 + s * xs + b * xb
                put(x, place, z, start, given, one)
                z[start + given] = 1.0
            if unit:
                left(z, first * zr, zr, samples, wide, squares[2])
                product(squares[2], squares[0], gates, first * gr, gr, samples, 4 * hidden, wide, 0)
            else:
                multiply(
                    lanes, z, first * zr, zr, 1, forward, 0, zr * panel, panel, gates, first * gr, gr, samples,
                    4 * hidden, wide, 0,
                )  # fmt: skip
            for row in range(first, first + samples):
                place = row * hidden
                if far and s + 1 < length:  # a time before the product writes there
                    for later in range((row + samples) * gr, (row + samples + 1) * gr, lanes):
                        ahead(gates, later)
                cell(
                    hidden, lanes, gates, row * gr, cells, place, place + samples * hidden, bent, place, z,
                    (row + samples) * zr,
                )  # fmt: skip

    return forth


def _make_back(version: int, unit: bool) -> Any:
    def back(
        above: Any, exit_: Any, parameters: Any, arrays: Any, room: Any, squares: Any, sizes: Any, flags: Any
    ) -> None:
        """The way back from `above`, the gradient in the states, to `exit_`, that in what came in, laid out like it.

        parameters: where the gradients in PyTorch's go; arrays: those of `forth` but the first; room: of the size of a
        place of z, (samples, hidden), as many rows like the gates' as z has columns, and a word's number of rows like
        those of z; squares: those of `forth`; flags: whether `exit_` is wanted, and whether gradients are added to what
        is there.
        """
        _, (y, y0, ys, yb), (x, x0, xs, xb), (taken, kept, bias, other) = version, above, exit_, parameters
        backward, z, gates, cells, bent = arrays
        slopes, pull, turned, square = room
        length, samples, given, hidden, lanes = sizes
        wanted, adding = flags
        wide, panel = hidden + given + 1, TILE * lanes
        zr, gr = rounded(wide, lanes), rounded(4 * hidden, lanes)
        chunk, end, one = max(1, (CHUNK if unit else DEEP) // samples), length, z.dtype.type(1)
        slopes[:] = 0.0
        pull[:] = 0.0
        for s in range(length - 1, -1, -1):
            first = s * samples
            for b in range(samples):
                row, start, place = first + b, b * zr, y0 + s * ys + b * yb
                put_more(y, place, slopes, start, hidden, one)
                cell_back(
                    hidden, lanes, gates, row * gr, cells, row * hidden, bent, row * hidden, slopes, start, pull,
                    b * hidden,
                )  # fmt: skip
            if s > 0 or wanted:
                columns = hidden + given if wanted else hidden
                if unit:
                    left(gates, first * gr, gr, samples, 4 * hidden, squares[2])
                    product(squares[2], squares[1], slopes, 0, zr, samples, columns, 4 * hidden, 0)
                else:
                    multiply(
                        lanes, gates, first * gr, gr, 1, backward, 0, gr * panel, panel, slopes, 0, zr, samples,
                        columns, 4 * hidden, 0,
                    )  # fmt: skip
            if wanted:
                for b in range(samples):
                    start, place = b * zr + hidden, x0 + s * xs + b * xb
                    put(slopes, start, x, place, given, one)
            if end - s == chunk or s == 0:
                rows = (end - s) * samples
                if unit:
                    _turned_by_unit(
                        lanes, z, first * zr, zr, gates, first * gr, gr, rows, wide, 4 * hidden, turned, end < length,
                        squares[2], squares[3], squares[4],
                    )  # fmt: skip
                else:
                    multiply(
                        lanes, z, first * zr, 1, zr, gates, first * gr, panel, gr, turned, 0, gr, wide, 4 * hidden,
                        rows, end < length,
                    )  # fmt: skip
                end = s
        _added(turned, square, taken, kept, bias, other, given, hidden, lanes, adding)

    return back


# What the passes close over changes with the file that they compile code of, see `jit`.
VERSION = stamp(recurrent_words.__file__, matrix_unit.__file__)
_added = bare(_make_added(VERSION))
forth, forth_by_unit = (bare(_make_forth(VERSION, unit)) for unit in (False, True))
back, back_by_unit = (bare(_make_back(VERSION, unit)) for unit in (False, True))
