"""Compiled passes of a large dense layer of one model, on a processor.

A large weight does not stay in the caches from one product to the next: here each piece of it is read once on the way
there, and once on the way back, for the gradient in what came in and for its own.
"""

from __future__ import annotations

from typing import Any

from numba import types

from boundcheck.engines.neural.kernels.words import (
    I64,
    WORDS,
    Code,
    Word,
    ahead,
    inner,
    inserted,
    ir,
    put_more,
    stamp,
    tiles,
)
from boundcheck.engines.sampled.jit import bare

__all__ = ["back", "forth"]

ROWS = 30  # of a weight at a time, whose words stay in the first cache


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


def _make_back(version: int, whole: int) -> Any:
    def back(
        lanes: Any, g: Any, x: Any, weight: Any, into: Any, gx: Any, given: Any, found: Any, wanted: Any, adding: Any,
        samples: Any, inputs: Any, outputs: Any,
    ) -> None:  # fmt: skip
        """gx (samples, inputs) = g W, if wanted, and into (outputs, inputs) (+)= g' x; into may be W itself.

        g: (samples, outputs), x: (samples, inputs), all flat; inputs: a multiple of lanes. given, found: room for x
        and gx.
        """
        _ = version
        wide = WORDS * lanes
        _panels(x, samples, inputs, wide, given, False)
        for r in range(0, outputs, whole):
            some = min(whole, outputs - r)
            for q in range(0, inputs, wide):
                words = min(WORDS, (inputs - q) // lanes)
                for i in range(r, r + some):
                    for place in range(i * inputs + q + wide, i * inputs + min(q + 2 * wide, inputs), lanes):
                        ahead(weight, place)
                if wanted:
                    tiles(
                        samples, words, g, r, outputs, 1, 0, weight, r * inputs + q, inputs, 0, found, q * samples,
                        words * lanes, some, 1, r > 0,
                    )  # fmt: skip
                tiles(
                    some, words, g, r, 1, outputs, 0, given, q * samples, words * lanes, 0, into, r * inputs + q,
                    inputs, samples, 1, adding,
                )  # fmt: skip
        if wanted:
            _panels(gx, samples, inputs, wide, found, True)

    return back


back = bare(_make_back(stamp(), ROWS))
forth = bare(_make_forth(stamp()))
