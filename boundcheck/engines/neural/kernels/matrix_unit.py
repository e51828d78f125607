"""Products by the matrix unit of a processor (Intel's Advanced Matrix Extensions), to the accuracy of float32.

The unit multiplies numbers of 8 bits (bfloat16) 16 times as fast as words do those of float32, and adds them up in
float32. A number of 24 bits is the sum of three of 8 bits; of the nine products of two such sums the six largest are
taken, what is left out is below 2^-23 of the whole. Numbers below 1e-33 lose some of their bits, for the unit takes
what is below 1e-38 for 0; from 3.39e38 on they become NaN.

It works on squares of 16 rows, and takes two neighbours of the common index at once. Which two is free, so long as
both factors have the same: here 16 apart, so that words become squares without being reordered. The common index is
cut into blocks of 2 x 16, the rest filled with zeros:

left: each row of the first factor as (blocks, parts, 16) pairs.
right: the second factor as (columns / 16, blocks, parts, 16 of the common index, 16 columns) pairs.

A pair has the size of a number of float32, and flat arrays of those hold them.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from typing import Any

from numba import types

from boundcheck.engines.neural.kernels.words import BYTES, I32, I64, Code, Word, inner, inserted, ir, supports

__all__ = ["left", "left_size", "product", "right", "right_size", "usable"]

SIDE = 16  # of a square
BLOCK = 2 * SIDE  # of the common index
_PARTS = 3
_ROW, _SQUARE = _PARTS * SIDE, _PARTS * SIDE * SIDE  # pairs of a block: of a row of the first, of 16 columns of second
_I8, _NOTHING = ir.IntType(8), ir.VoidType()
_PERMISSION, _TILES = 0x1023, 18  # of Linux's arch_prctl: a process asks for the unit's registers


@functools.cache
def usable() -> bool:
    """Whether this processor has the unit and the system lets this process use it."""
    if not supports("amx-tile", "amx-bf16") or sys.platform != "linux" or BYTES != 64:
        return False
    return ctypes.CDLL(None).syscall(158, _PERMISSION, _TILES) == 0


def left_size(rows: int, depth: int) -> int:
    """Numbers of an array for a first factor."""
    return rows * -(-depth // BLOCK) * _ROW


def right_size(depth: int, columns: int) -> int:
    """Numbers of an array for a second factor."""
    return -(-columns // SIDE) * -(-depth // BLOCK) * _SQUARE


def _made_split(partial: bool) -> Any:
    """Makes `split`; partial: only the first numbers of the words count, otherwise all."""

    def split(typing: Any, a: Any, a0: Any, step: Any, first: Any, second: Any, b: Any, b0: Any, apart: Any) -> Any:
        """The word at a0 and the one step further, of which first and second numbers count, to three words of pairs."""

        def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code, words = Code(context, builder, types.float32), list[Word]()
            place, into = (code.place(signature.args[k], args[k], args[k + 1]) for k in (0, 5))
            for count, start in ((args[3], place), (args[4], builder.gep(place, [args[2]]))):
                if partial:
                    code.first(count)
                words.append(code.read(start))
            code.mask = None
            half, high, bits = (ir.Constant(code.integer, [n] * code.lanes) for n in (1 << 15, -(1 << 16), 16))
            for part in range(_PARTS):
                whole = [builder.bitcast(word.value, code.integer) for word in words]
                if part == 0:  # rounded, so that the next part's sign is free; what is left of it fits into two parts
                    whole = [builder.add(word, half) for word in whole]
                kept = [builder.and_(word, high) for word in whole]
                pairs = builder.bitcast(builder.or_(builder.lshr(whole[0], bits), kept[1]), code.type)
                code.write(Word(code, pairs), code.along(into, args[7], part))
                taken = [Word(code, builder.bitcast(word, code.type)) for word in kept]
                words = [word - one for word, one in zip(words, taken, strict=True)]
            return context.get_dummy_value()

        return types.void(a, a0, step, first, second, b, b0, apart), made

    return inserted(split)


_split, _split_whole = _made_split(True), _made_split(False)


@inner
def left(a: Any, a0: Any, ar: Any, rows: Any, depth: Any, into: Any) -> None:
    """Lays out a first factor (rows, depth), rows ar apart."""
    place, whole = 0, depth // BLOCK * BLOCK
    for i in range(rows):
        for k in range(0, whole, BLOCK):
            _split_whole(a, a0 + i * ar + k, SIDE, SIDE, SIDE, into, place, SIDE)
            place += _ROW
        if whole < depth:
            rest = depth - whole
            _split(a, a0 + i * ar + whole, SIDE, min(SIDE, rest), max(0, rest - SIDE), into, place, SIDE)
            place += _ROW


@inner
def right(a: Any, a0: Any, ar: Any, depth: Any, columns: Any, into: Any, place: Any) -> Any:
    """Lays out a second factor (depth, columns), rows ar apart, from a place on; where it ends."""
    for j in range(0, columns, SIDE):
        some = min(SIDE, columns - j)
        for k in range(0, depth, BLOCK):
            first = a0 + k * ar + j
            if k + BLOCK <= depth and some == SIDE:
                for i in range(SIDE):
                    _split_whole(a, first + i * ar, SIDE * ar, SIDE, SIDE, into, place + i * SIDE, SIDE * SIDE)
            else:
                for i in range(SIDE):
                    _split(
                        a, first + min(i, depth - 1 - k) * ar, SIDE * ar, some if k + i < depth else 0,
                        some if k + i + SIDE < depth else 0, into, place + i * SIDE, SIDE * SIDE,
                    )  # fmt: skip
            place += _SQUARE
    return place


def _settings() -> list[int]:
    """How many rows the registers have for 1 to 2 SIDE rows of the first factor: 64 bytes for each."""
    found: list[int] = []
    for rows in range(1, 2 * SIDE + 1):
        of = [SIDE] * 8
        for register in (0, 1, 2, 3, 4, 5, 6) if rows <= SIDE else (2, 3, 5):
            of[register] = (rows - 1) % SIDE + 1
        found += [1, *[0] * 15, *[4 * SIDE, 0] * 8, *[0] * 16, *of, *[0] * 8]
    return found


def _unit(code: Code, name: str, *given: Any) -> None:
    """An instruction of the unit; whole numbers name its registers."""
    values = [_I8(v) if isinstance(v, int) else v for v in given]
    code.builder.call(code.known(f"llvm.x86.{name}", _NOTHING, [v.type for v in values]), values)


@inserted
def _begun(typing: Any, rows: Any) -> Any:
    """Sets the unit up for so many rows."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code, name = Code(context, builder, types.float32), "boundcheck_matrix_unit"
        there = builder.module.globals.get(name)
        if there is None:
            values = _settings()
            kind = ir.ArrayType(_I8, len(values))
            there = ir.GlobalVariable(builder.module, kind, name)
            there.initializer, there.linkage, there.global_constant = ir.Constant(kind, values), "internal", True
        offset = builder.mul(builder.sub(args[0], I64(1)), I64(64))
        _unit(code, "ldtilecfg", builder.gep(there, [I32(0), offset]))
        return context.get_dummy_value()

    return types.void(rows), made


@inserted
def _ended(typing: Any) -> Any:
    """Gives the unit back: its registers then need not be kept when the system turns to another process."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _unit(Code(context, builder, types.float32), "tilerelease")
        return context.get_dummy_value()

    return types.void(), made


def _squares(m: int, n: int) -> Any:
    """Makes code for m x n squares of a product."""

    def squares(
        typing: Any, a: Any, a0: Any, b: Any, b0: Any, c: Any, c0: Any, cr: Any, blocks: Any, adding: Any
    ) -> Any:
        def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = Code(context, builder, types.float32)
            lefts, rights, into = (code.place(signature.args[k], args[k], args[k + 1]) for k in (0, 2, 4))
            cr, blocks, adding = args[6:]
            rows, columns = builder.mul(blocks, I64(_ROW)), builder.mul(blocks, I64(_SQUARE))
            down = builder.mul(cr, I64(4))
            grid = [(i, j) for i in range(m) for j in range(n)]
            places = [_bytes(code, code.along(into, cr, i * SIDE), j * SIDE) for i, j in grid]
            kept, fresh, loop, done = (builder.append_basic_block(x) for x in ("kept", "fresh", "loop", "done"))
            builder.cbranch(builder.icmp_signed("!=", adding, adding.type(0)), kept, fresh)
            builder.position_at_end(kept)
            for (i, j), place in zip(grid, places, strict=True):
                _unit(code, "tileloadd64", 2 * i + j, place, down)
            builder.branch(loop)
            builder.position_at_end(fresh)
            for i, j in grid:
                _unit(code, "tilezero", 2 * i + j)
            builder.branch(loop)

            builder.position_at_end(loop)
            k, one, other = builder.phi(I64), builder.phi(lefts.type), builder.phi(rights.type)

            def first(register: int, part: int, i: int = 0) -> None:
                place = _bytes(code, code.along(one, rows, i * SIDE), part * SIDE)
                _unit(code, "tileloadd64", register, place, builder.mul(rows, I64(4)))

            def second(register: int, part: int, j: int) -> None:
                place = _bytes(code, code.along(other, columns, j), part * SIDE * SIDE)
                _unit(code, "tileloadd64", register, place, I64(4 * SIDE))

            (_two_rows if m == 2 else _one_row)(code, n, first, second)
            more = builder.add(k, I64(1))
            onwards = more, builder.gep(one, [I64(_ROW)]), builder.gep(other, [I64(_SQUARE)])
            builder.cbranch(builder.icmp_signed("<", more, blocks), loop, done)
            for block, values in ((kept, (I64(0), lefts, rights)), (fresh, (I64(0), lefts, rights)), (loop, onwards)):
                for phi, value in zip((k, one, other), values, strict=True):
                    phi.add_incoming(value, block)
            builder.position_at_end(done)
            for (i, j), place in zip(grid, places, strict=True):
                _unit(code, "tilestored64", 2 * i + j, place, down)
            return context.get_dummy_value()

        return types.void(a, a0, b, b0, c, c0, cr, blocks, adding), made

    return inserted(squares)


def _two_rows(code: Code, n: int, first: Any, second: Any) -> None:
    """A block of two rows of squares: parts of both factors in two registers each, one factor's change at a time."""
    before: tuple[Any, Any] = None, None
    for parts in ((0, 2), (0, 1), (1, 1), (1, 0), (2, 0), (0, 0)):
        if parts[0] != before[0]:
            first(4, parts[0], 0)
            first(5, parts[0], 1)
        for j in range(n):
            if parts[1] != before[1]:
                second(6 + j, parts[1], j)
        before = parts
        for i in range(2):
            for j in range(n):
                _unit(code, "tdpbf16ps", 2 * i + j, 4 + i, 6 + j)


def _one_row(code: Code, n: int, first: Any, second: Any) -> None:
    """A block of one row of squares: all parts of the first factor stay, those of the second come once."""
    for part in range(_PARTS):
        first(4 + part, part)
    for part in reversed(range(_PARTS)):  # the small products first
        for j in range(n):
            second(7, part, j)
            for other in range(_PARTS - part):
                _unit(code, "tdpbf16ps", j, 4 + other, 7)


def _bytes(code: Code, place: Any, further: int) -> Any:
    return code.builder.bitcast(code.builder.gep(place, [I64(further)]), _I8.as_pointer())


_squares_22, _squares_21 = _squares(2, 2), _squares(2, 1)
_squares_14, _squares_13, _squares_12, _squares_11 = (_squares(1, n) for n in (4, 3, 2, 1))


@inner
def _strips(
    a: Any, b: Any, c: Any, c0: Any, cr: Any, start: Any, end: Any, some: Any, squares: Any, blocks: Any, adding: Any
) -> None:
    """Rows from start to end of a product, some at a time, 2 SIDE at most."""
    _begun(some)
    wide = 2 if some > SIDE else 4
    for j in range(0, squares, wide):
        n, second = min(wide, squares - j), j * blocks * _SQUARE
        for i in range(start, end, some):
            first, at = i * blocks * _ROW, c0 + i * cr + j * SIDE
            if some > SIDE:
                if n == 2:
                    _squares_22(a, first, b, second, c, at, cr, blocks, adding)
                else:
                    _squares_21(a, first, b, second, c, at, cr, blocks, adding)
            elif n == 4:
                _squares_14(a, first, b, second, c, at, cr, blocks, adding)
            elif n == 3:
                _squares_13(a, first, b, second, c, at, cr, blocks, adding)
            elif n == 2:
                _squares_12(a, first, b, second, c, at, cr, blocks, adding)
            else:
                _squares_11(a, first, b, second, c, at, cr, blocks, adding)


@inner
def product(a: Any, b: Any, c: Any, c0: Any, cr: Any, rows: Any, columns: Any, depth: Any, adding: Any) -> None:
    """C (+)= A B of a `left` and a `right`; columns of C, whose rows are cr apart, are rounded up to whole words."""
    blocks, squares = (depth + BLOCK - 1) // BLOCK, (columns + SIDE - 1) // SIDE
    whole = rows // (2 * SIDE) * (2 * SIDE)
    if whole > 0:
        _strips(a, b, c, c0, cr, 0, whole, 2 * SIDE, squares, blocks, adding)
    if whole < rows:
        _strips(a, b, c, c0, cr, whole, rows, rows - whole, squares, blocks, adding)
    _ended()
