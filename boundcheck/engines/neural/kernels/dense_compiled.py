"""Compiled passes of a large dense layer of one model, on a processor.

A large weight does not stay in the caches from one product to the next: here each piece of it is read once on the way
there, and once on the way back, for the gradient in what came in and for its own.
"""

from __future__ import annotations

from typing import Any

from numba import types

from boundcheck.engines.neural.kernels.words import (
    BYTES,
    I64,
    WORDS,
    Code,
    Word,
    inner,
    inserted,
    ir,
    put_more,
    stamp,
    tiles,
)
from boundcheck.engines.sampled.jit import bare

__all__ = ["back", "forth"]

ROWS = 64  # of a weight at a time, whose words stay in the first cache
BESIDE = 2  # words of each row of it at a time


def _dots(m: int, n: int) -> Any:
    """Makes code for the inner products of m rows of a weight and n samples, whose sums stay in registers."""

    def dots(typing: Any, w: Any, w0: Any, x: Any, x0: Any, width: Any, y: Any, y0: Any, apart: Any) -> Any:
        """That of row i of w and sample j of x, both of width numbers, to y[y0 + i + j apart].

        width: a multiple of a word's.
        """

        def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = Code(context, builder, signature.args[0].dtype)
            left, right, into = (code.place(signature.args[k], args[k], args[k + 1]) for k in (0, 2, 5))
            width, apart, here = args[4], args[7], builder.block
            loop, done = (builder.append_basic_block(name) for name in ("loop", "done"))
            builder.branch(loop)
            builder.position_at_end(loop)
            k, *sums = builder.phi(I64), *(builder.phi(code.type) for _ in range(m * n))
            rows, samples = (
                [code.read(builder.gep(code.along(place, width, i), [k])) for i in range(count)]
                for place, count in ((left, m), (right, n))
            )
            for i in range(m):  # of the next rows
                code.ahead(builder.gep(code.along(left, width, m + i), [k]), written=False)
            pairs = [(row, sample) for row in rows for sample in samples]
            new = [code.fused(*pair, Word(code, old)).value for pair, old in zip(pairs, sums, strict=True)]
            more = builder.add(k, I64(code.lanes))
            builder.cbranch(builder.icmp_signed("<", more, width), loop, done)
            for phi, value in zip((k, *sums), (more, *new), strict=True):
                phi.add_incoming(ir.Constant(phi.type, None), here)
                phi.add_incoming(value, loop)
            builder.position_at_end(done)
            name = f"llvm.vector.reduce.fadd.v{code.lanes}f{8 * code.size}"
            total = code.known(name, code.real, [code.real, code.type])
            for place, word in enumerate(new):
                i, j = divmod(place, n)
                found = builder.call(total, [ir.Constant(code.real, -0.0), word], fastmath=("reassoc",))
                builder.store(found, builder.gep(code.along(into, apart, j), [I64(i)]), align=code.size)
            return context.get_dummy_value()

        return types.void(w, w0, x, x0, width, y, y0, apart), made

    return inserted(dots)


# sums of as many rows and samples as a tile has words, and the words of both, fit into the registers
_dots_square, _dots_column, _dots_one = _dots(WORDS, WORDS), _dots(WORDS, 1), _dots(1, 1)


def _make_forth(version: int) -> Any:
    def forth(x: Any, weight: Any, bias: Any, y: Any, samples: Any, inputs: Any, outputs: Any) -> None:
        """y (samples, outputs) = x W' + b, W's rows read one after the other; bias: empty or (outputs,), all flat.

        inputs: a multiple of a word's numbers.
        """
        _, one = version, x.dtype.type(1)
        for i in range(0, outputs, WORDS):
            rows, first = min(WORDS, outputs - i), i * inputs
            whole = samples // WORDS * WORDS if rows == WORDS else 0
            for j in range(0, whole, WORDS):
                _dots_square(weight, first, x, j * inputs, inputs, y, j * outputs + i, outputs)
            for j in range(whole, samples):
                if rows == WORDS:
                    _dots_column(weight, first, x, j * inputs, inputs, y, j * outputs + i, outputs)
                else:
                    for k in range(rows):
                        at = first + k * inputs
                        _dots_one(weight, at, x, j * inputs, inputs, y, j * outputs + i + k, outputs)
        for j in range(samples):
            put_more(bias, 0, y, j * outputs, len(bias), one)

    return forth


@inner
def _panels(a: Any, rows: Any, columns: Any, wide: Any, panels: Any, back: Any) -> None:
    """a (rows, columns) as panels (.., rows, wide), the last of them narrower, or the other way."""
    for q in range(0, columns, wide):
        some = min(wide, columns - q)
        for s in range(rows):
            one = a[s * columns + q : s * columns + q + some]
            other = panels[q * rows + s * some : q * rows + (s + 1) * some]
            if back:
                for c in range(some):
                    one[c] = other[c]
            else:
                for c in range(some):
                    other[c] = one[c]


# Samples at once: with their words, those of a row and one more these are at most 32 or 16 registers. Each is code of
# its own; of so many samples as are left, up to the most, the next take as many as `_FITTING` says.
_GROUPS = (12, 10, 8, 4, 2, 1) if BYTES == 64 else (6, 5, 4, 3, 2, 1)
_FITTING = tuple(next((m for m in _GROUPS if m <= left), 0) for left in range(_GROUPS[0] + 1))


@inserted
def _more(
    typing: Any, m: Any, w: Any, other: Any, w0: Any, width: Any, g: Any, g0: Any, samples: Any, x: Any, x0: Any,
    rows: Any,
) -> Any:  # fmt: skip
    """w[w0 + i width + ..] += sum over j < m of g[g0 + i samples + j] x[x0 + j BESIDE lanes + ..], i < rows.

    m: one of _GROUPS, whose samples stay in registers. The words beside, of w and other, are asked for on the way.
    """

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature.args[1].dtype)
        places = [code.place(signature.args[k], args[k], args[k + at]) for k, at in ((1, 2), (2, 1), (5, 1), (8, 1))]
        end = builder.append_basic_block("end")
        choice = builder.switch(args[0], end)
        for m in _GROUPS:
            block = builder.append_basic_block(f"samples_{m}")
            choice.add_case(args[0].type(m), block)
            builder.position_at_end(block)
            _rows_more(code, m, places, args[4], args[7], args[10])
            builder.branch(end)
        builder.position_at_end(end)
        return context.get_dummy_value()

    return types.void(m, w, other, w0, width, g, g0, samples, x, x0, rows), made


def _rows_more(code: Code, m: int, starts: list[Any], width: Any, samples: Any, rows: Any) -> None:
    """Writes `_more` for m samples. starts: where w, other, g and x begin."""
    builder, (*rest, sample) = code.builder, starts
    words = [[I64((j * BESIDE + k) * code.lanes) for k in range(BESIDE)] for j in range(m)]
    given = [[code.read(builder.gep(sample, [at])) for at in row] for row in words]
    here = builder.block
    loop, done = (builder.append_basic_block(name) for name in ("loop", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    phis = [builder.phi(kind) for kind in (I64, *(start.type for start in rest))]
    i, row, next_to, factor = phis
    places = [builder.gep(row, [at]) for at in words[0]]
    sums = [code.read(at) for at in places]
    for j in range(m):
        number = code.same(builder.load(builder.gep(factor, [I64(j)]), align=code.size))
        sums = [code.fused(number, one, old) for one, old in zip(given[j], sums, strict=True)]
    for start in (row, next_to):
        for k in range(BESIDE):
            code.ahead(builder.gep(start, [I64((BESIDE + k) * code.lanes)]))
    for at, word in zip(places, sums, strict=True):
        code.write(word, at)
    steps = zip((row, next_to, factor), (width, width, samples), strict=True)
    onwards = [builder.add(i, I64(1)), *(builder.gep(at, [step]) for at, step in steps)]
    builder.cbranch(builder.icmp_signed("<", onwards[0], rows), loop, done)
    for phi, start, fresh in zip(phis, (I64(0), *rest), onwards, strict=True):
        phi.add_incoming(start, here)
        phi.add_incoming(fresh, loop)
    builder.position_at_end(done)


@inner
def _updated(
    lanes: Any, w: Any, other: Any, w0: Any, width: Any, g: Any, x: Any, x0: Any, samples: Any, rows: Any
) -> None:
    """`_more` for any number of samples, g (rows, samples) and x (samples, BESIDE words)."""
    j = 0
    while j < samples:
        m = _FITTING[min(_GROUPS[0], samples - j)]
        _more(m, w, other, w0, width, g, j, samples, x, x0 + j * BESIDE * lanes, rows)
        j += m


def _make_back(version: int, whole: int) -> Any:
    def back(
        lanes: Any, g: Any, x: Any, weight: Any, into: Any, gx: Any, given: Any, found: Any, slopes: Any, wanted: Any,
        adding: Any, samples: Any, inputs: Any, outputs: Any,
    ) -> None:  # fmt: skip
        """gx (samples, inputs) = g W, if wanted, and into (outputs, inputs) (+)= g' x; into may be W itself.

        g: (samples, outputs), x: (samples, inputs), all flat; inputs: a multiple of lanes. given, found, slopes: room
        for x, for gx, and for ROWS columns of g.
        """
        _, wide = version, BESIDE * lanes
        _panels(x, samples, inputs, wide, given, False)
        for r in range(0, outputs, whole):
            some = min(whole, outputs - r)
            for j in range(samples):
                for i in range(some):
                    slopes[i * samples + j] = g[j * outputs + r + i]
            for q in range(0, inputs, wide):
                words, first, place = min(BESIDE, (inputs - q) // lanes), r * inputs + q, q * samples
                if wanted:
                    tiles(
                        samples, words, slopes, 0, 1, samples, 0, weight, first, inputs, 0, found, place,
                        words * lanes, some, 1, r > 0,
                    )  # fmt: skip
                if not adding:
                    for i in range(some):
                        into[first + i * inputs : first + i * inputs + words * lanes] = 0.0
                if words == BESIDE:
                    _updated(
                        lanes, into, weight if wanted else into, first, inputs, slopes, given, place, samples, some
                    )
                else:
                    tiles(
                        some, words, slopes, 0, samples, 1, 0, given, place, words * lanes, 0, into, first, inputs,
                        samples, 1, 1,
                    )  # fmt: skip
        if wanted:
            _panels(gx, samples, inputs, wide, found, True)

    return back


back = bare(_make_back(stamp(), ROWS))
forth = bare(_make_forth(stamp()))
