"""Words of a processor, the numbers that it works on at once, for long short-term memory: tiles and activations.

A product is made of tiles, some rows by TILE words of the result, which stay in registers while the common index runs.
The numbers of a word are those of neighbouring units, so that a time's activations are words, too, the last of them
masked. This is code of LLVM made here: loops that numba compiles neither keep a tile in registers nor use the widest
words. `recurrent_compiled` tells how the arrays are laid out.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

from numba import types

from boundcheck.engines.neural.kernels.words import (
    BYTES,
    WORDS,
    Code,
    Word,
    inner,
    inserted,
    ir,
    put,
    rounded,
    tiles,
    turned_square,
)

__all__ = [
    "DEEP", "PANEL", "TILE", "cell", "cell_back", "multiply", "packed", "unit_of",
]  # fmt: skip

TILE = WORDS
PANEL = TILE * BYTES  # bytes of a row of a tile
DEEP = 96  # rows that a product of the weights' gradient takes at least, to make up for reading and writing the result
_DEEPEST = 128  # and at most, so that a panel of the second factor stays in the first cache
# Exponents of 2 up to here stand for those beyond: three such powers have a product, and 1 plus or minus one is one.
_EDGES = {True: 40.0, False: 80.0}
# (2^r - 1)/r on |r| <= 1/2: through the zeros of a Chebyshev polynomial, and Taylor's series
_SERIES = {
    True: [0.693147188, 0.240226508, 0.0555035711, 0.00961808256, 0.00133908634, 0.000154531629],
    False: [log(2) ** k / factorial(k) for k in range(1, 14)],
}
_SIGMOID, _TURNED = -1 / log(2), 2 / log(2)  # u / v


class _Gates(Code):
    """Code for activations."""

    def power(self, x: Word) -> tuple[Word, Word, Word]:
        """2^n, r and (2^r - 1)/r for x = n + r with |r| <= 1/2, x held within -`edge` and `edge`; NaN stays.

        n is rounded by adding a number so large that what is left of its bits is n and an exponent's bias, which then
        shift into an exponent. The series in r has a relative error of 1e-8 in single and 1e-17 in double precision.
        """
        edge = _EDGES[self.single]
        for sign, limit in ((">", self.of(edge)), ("<", self.of(-edge))):
            beyond = self.builder.fcmp_ordered(sign, x.value, limit.value)
            x = Word(self, self.builder.select(beyond, limit.value, x.value))
        bits, bias = (23, 127) if self.single else (52, 1023)
        shift = self.of(1.5 * 2.0**bits + bias)
        shifted = x + shift
        r = x - (shifted - shift)
        *series, total = (self.of(number) for number in _SERIES[self.single])
        for number in reversed(series):
            total = self.fused(total, r, number)
        whole = self.builder.bitcast(shifted.value, self.integer)
        raised = self.builder.shl(whole, ir.Constant(self.integer, [bits] * self.lanes))
        return Word(self, self.builder.bitcast(raised, self.type)), r, total

    def below(self, x: Word) -> Word:
        """1 + 2^x: one over sigmoid(v) for x = -v / log 2."""
        power, r, series = self.power(x)
        return self.fused(power, self.fused(series, r, self.of(1.0)), self.of(1.0))

    def ratio(self, x: Word) -> tuple[Word, Word]:
        """2^x - 1 over 2^x + 1, for x = 2v / log 2, is tanh(v), near 0 exact to rounding, too."""
        power, r, series = self.power(x)
        above = self.fused(power, series * r, power - self.of(1.0))
        return above, above + self.of(2.0)


def _cell(together: int) -> Any:
    """Makes `cell` for so many words: a time of units from their gates before the activations to the state.

    count: of the units, if not all of one word.
    """

    def cell(
        typing: Any, count: Any, hidden: Any, gates: Any, g0: Any, cells: Any, old: Any, new: Any, bent: Any, e0: Any,
        z: Any, z0: Any,
    ) -> Any:  # fmt: skip
        def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            count, hidden, _, g0, _, old, new, _, e0, _, z0 = args
            code = _Gates(context, builder, signature.args[2].dtype, together)
            if together == 1:
                code.first(count)
            at = [code.place(signature.args[2], args[2], g0)]
            at += [code.along(at[0], hidden, k) for k in (1, 2, 3)]
            below_entry, below_forget = (code.below(code.read(place)) for place in at[:2])
            above, below_change = code.ratio(code.read(at[2]))
            below_leave = code.below(code.read(at[3]))
            both = below_entry * below_forget  # a division costs as much as ten products
            one = code.of(1.0) / (both * below_change)
            part = one * below_change
            entry, forget, change = part * below_forget, part * below_entry, above * (one * both)
            before = code.read(code.place(signature.args[4], args[4], old))
            cell = code.fused(forget, before, entry * change)
            code.write(cell, code.place(signature.args[4], args[4], new))
            above, below_cell = code.ratio(cell * code.of(2 / log(2)))
            one = code.of(1.0) / (below_leave * below_cell)
            leave, bow = one * below_cell, above * (one * below_leave)
            for place, word in zip(at, (entry, forget, change, leave), strict=True):
                code.write(word, place)
            code.write(bow, code.place(signature.args[7], args[7], e0))
            code.write(leave * bow, code.place(signature.args[9], args[9], z0))
            return context.get_dummy_value()

        return types.void(count, hidden, gates, g0, cells, old, new, bent, e0, z, z0), made

    return inserted(cell)


def _cell_back(together: int) -> Any:
    """Makes `cell_back` for so many words: back through `cell`, the gates become the gradients before the activations.

    slopes: the gradient in the state; pull: that in the cell after this time, then in the one before.
    """

    def cell_back(
        typing: Any, count: Any, hidden: Any, gates: Any, g0: Any, cells: Any, old: Any, bent: Any, e0: Any,
        slopes: Any, d0: Any, pull: Any, p0: Any,
    ) -> Any:  # fmt: skip
        def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = _Gates(context, builder, signature.args[2].dtype, together)
            if together == 1:
                code.first(args[0])
            at = [code.place(signature.args[2], args[2], args[3])]
            at += [code.along(at[0], args[1], k) for k in (1, 2, 3)]
            entry, forget, change, leave = (code.read(place) for place in at)
            places = [code.place(signature.args[k], args[k], args[k + 1]) for k in (4, 6, 8, 10)]
            before, bow, state, later = (code.read(place) for place in places)
            one, unit = code.of(1.0), code.of(log(2))
            cell = code.fused(state * leave, one - bow * bow, later)
            scaled = cell * unit
            found = (
                scaled * change * entry * (entry - one),
                scaled * before * forget * (forget - one),
                scaled * code.of(0.5) * entry * (one - change * change),
                state * unit * bow * leave * (leave - one),
            )
            for place, word in zip(at, found, strict=True):
                code.write(word, place)
            code.write(cell * forget, places[3])
            return context.get_dummy_value()

        return types.void(count, hidden, gates, g0, cells, old, bent, e0, slopes, d0, pull, p0), made

    return inserted(cell_back)


_cell_1, _cell_2, _cell_back_1, _cell_back_2 = _cell(1), _cell(2), _cell_back(1), _cell_back(2)


@inner
def cell(
    hidden: Any, lanes: Any, gates: Any, g0: Any, cells: Any, old: Any, new: Any, bent: Any, e0: Any, z: Any, z0: Any
) -> None:
    """A time of a sample's units: gates before the activations become those after them, cells and states follow."""
    u = 0
    while u + 2 * lanes <= hidden:
        _cell_2(2 * lanes, hidden, gates, g0 + u, cells, old + u, new + u, bent, e0 + u, z, z0 + u)
        u += 2 * lanes
    while u < hidden:
        _cell_1(hidden - u, hidden, gates, g0 + u, cells, old + u, new + u, bent, e0 + u, z, z0 + u)
        u += lanes


@inner
def cell_back(
    hidden: Any, lanes: Any, gates: Any, g0: Any, cells: Any, old: Any, bent: Any, e0: Any, slopes: Any, d0: Any,
    pull: Any, p0: Any,
) -> None:  # fmt: skip
    """Back through `cell`: the gates become the gradients before the activations.

    slopes: the gradient in the states; pull: that in the cells after this time, then in those before.
    """
    u = 0
    while u + 2 * lanes <= hidden:
        _cell_back_2(2 * lanes, hidden, gates, g0 + u, cells, old + u, bent, e0 + u, slopes, d0 + u, pull, p0 + u)
        u += 2 * lanes
    while u < hidden:
        _cell_back_1(hidden - u, hidden, gates, g0 + u, cells, old + u, bent, e0 + u, slopes, d0 + u, pull, p0 + u)
        u += lanes


# --- passes ---------------------------------------------------------------------------------------------------


@inner
def multiply(
    lanes: Any, a: Any, a0: Any, ar: Any, ak: Any, b: Any, b0: Any, bp: Any, bk: Any, c: Any, c0: Any, cr: Any,
    rows: Any, columns: Any, depth: Any, adding: Any,
) -> None:  # fmt: skip
    """C (+)= A B, see `tiles`; the panels of B are bp apart. Columns are rounded up to whole words."""
    words = (columns + lanes - 1) // lanes
    parts = (depth + _DEEPEST - 1) // _DEEPEST
    deep = (depth + parts - 1) // parts
    for j in range(0, words, TILE):
        n = min(TILE, words - j)
        for k in range(0, depth, deep):
            tiles(
                rows, n, a, a0 + k * ak, ar, ak, 0, b, b0 + j // TILE * bp + k * bk, bk, 0, c, c0 + j * lanes, cr,
                min(deep, depth - k), 1, adding or k > 0,
            )  # fmt: skip


@inner
def _copied(a: Any, a0: Any, factor: Any, b: Any, row: Any, first: Any, count: Any, rows: Any, panel: Any) -> None:
    """Multiples of count numbers into columns first, first + 1, ... of a row of panels (panels, rows, panel)."""
    done = 0
    while done < count:
        column = first + done
        start = (column // panel * rows + row) * panel + column % panel
        some = min(count - done, panel - column % panel)
        put(a, a0 + done, b, start, some, factor)
        done += some


@inner
def unit_of(row: Any, hidden: Any) -> Any:
    """u / v of the gate of a row."""
    return _TURNED if row // hidden == 2 else _SIGMOID


@inner
def packed(
    taken: Any, kept: Any, bias: Any, other: Any, forward: Any, backward: Any, given: Any, hidden: Any, lanes: Any
) -> None:
    """Lays out PyTorch's parameters."""
    wide, panel = hidden + given + 1, TILE * lanes
    zr, gr = rounded(wide, lanes), rounded(4 * hidden, lanes)
    for row in range(4 * hidden):
        unit = kept.dtype.type(unit_of(row, hidden))
        _copied(kept, row * hidden, unit, backward, row, 0, hidden, gr, panel)
        _copied(taken, row * given, unit, backward, row, hidden, given, gr, panel)
        _copied(bias, row, unit, backward, row, wide - 1, 1, gr, panel)
        backward[((wide - 1) // panel * gr + row) * panel + (wide - 1) % panel] += unit * other[row]
    for row in range(0, gr, lanes):
        for column in range(0, zr, lanes):
            turned_square(
                backward, (column // panel * gr + row) * panel + column % panel, panel, forward,
                (row // panel * zr + column) * panel + row % panel, panel,
            )  # fmt: skip
