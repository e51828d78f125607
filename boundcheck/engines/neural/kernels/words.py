"""Words of a processor, the numbers that it works on at once: code of LLVM for numba's passes to insert.

Loops that numba compiles neither keep a tile of a product in registers nor use the widest words; what is made here
does. numba's cache sees changes of a function's own file only, so that passes close over `stamp()`, and what they call
that inserts code from here is not cached by itself (`inner`).
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import cgutils, codegen
from numba.extending import intrinsic

from boundcheck.engines.sampled.jit import UNCOUNTED, bare_inlined

__all__ = ["BYTES", "I32", "I64", "WORDS", "Code", "Word", "ahead", "inner", "inserted", "ir",
           "put", "put_more", "ready", "rounded", "stamp", "supports", "tiles", "turned_square", "usable", "whole",
           "written_out"]  # fmt: skip

generation: Any = cgutils
ir = generation.ir  # llvmlite's, in the version that numba brings
processor: Any = codegen
inserted: Any = intrinsic

_FEATURES = processor.ll.get_host_cpu_features()
_WIDE = bool(_FEATURES.get("avx512f"))
BYTES = 64 if _WIDE else 32  # of a word
I32, I64 = ir.IntType(32), ir.IntType(64)
# Rows that a tile may have, by its words: with a word of each row of the second factor and one more these are at most
# 32 or 16 registers. Each size is code of its own.
_LONG, _SHORT = (14, 10, 7, 4, 2, 1), (5, 3, 2, 1)
_SIZES = ((), _LONG, _LONG, (7, *_SHORT), _SHORT, _SHORT) if _WIDE else ((), (8, 4, 2, 1), (6, 3, 2, 1), (4, 2, 1))
WORDS = len(_SIZES) - 1
# At 16 words + rows, for up to 15 rows that are left: how many the next tile takes.
_FITTING = tuple(next((s for s in sizes if s <= left), 0) for sizes in _SIZES for left in range(16))


def supports(*features: str) -> bool:
    """Whether this processor has what LLVM calls so."""
    return all(_FEATURES.get(name) for name in features)


def usable() -> bool:
    """Whether this processor has the words that passes are written for (fused multiplication and addition)."""
    return _WIDE or supports("avx2", "fma")


def inner(function: Any) -> Any:
    """Compile with what calls it."""
    return numba.njit(**UNCOUNTED)(function)


def written_out(function: Any) -> Any:
    """Put the function's code where it is called, before anything is compiled."""
    return numba.njit(inline="always", **UNCOUNTED)(function)


@functools.cache
def stamp(*files: str) -> int:
    """A number that changes with this file and others."""
    whole = b"".join(Path(name).read_bytes() for name in (__file__, *files))
    return int.from_bytes(hashlib.sha256(whole).digest()[:7], "big")


@dataclass(frozen=True)
class Word:
    """A word and its arithmetic."""

    code: Code
    value: Any

    def __add__(self, other: Word) -> Word:
        return self._with("fadd", other)

    def __sub__(self, other: Word) -> Word:
        return self._with("fsub", other)

    def __mul__(self, other: Word) -> Word:
        return self._with("fmul", other)

    def __truediv__(self, other: Word) -> Word:
        return self._with("fdiv", other)

    def _with(self, instruction: str, other: Word) -> Word:
        return Word(self.code, getattr(self.code.builder, instruction)(self.value, other.value))


class Code:
    """Where code is written, for words of one type of number.

    together: so many words beside one another are one here, whose operations take turns, so that none waits for its
    own last one.
    """

    def __init__(self, context: Any, builder: Any, real: Any, together: int = 1) -> None:
        self.context, self.builder, self.single = context, builder, real == types.float32
        self.size = 4 if self.single else 8
        self.lanes = together * BYTES // self.size
        self.real = ir.FloatType() if self.single else ir.DoubleType()
        self.type = ir.VectorType(self.real, self.lanes)
        self.integer = ir.VectorType(I32 if self.single else I64, self.lanes)
        self.mask: Any = None

    def of(self, number: float) -> Word:
        """A word of one number."""
        return Word(self, ir.Constant(self.type, [number] * self.lanes))

    def same(self, value: Any) -> Word:
        """A word of one value."""
        nothing = ir.Constant(ir.VectorType(value.type, self.lanes), ir.Undefined)
        first = self.builder.insert_element(nothing, value, I32(0))
        zeros = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return Word(self, self.builder.shuffle_vector(first, nothing, zeros))

    def known(self, name: str, result: Any, given: list[Any]) -> Any:
        """A function of LLVM."""
        there = self.builder.module.globals.get(name)
        return there if there is not None else ir.Function(self.builder.module, ir.FunctionType(result, given), name)

    def fused(self, a: Word, b: Word, c: Word) -> Word:
        """a b + c."""
        name = f"llvm.fma.v{self.lanes}f{8 * self.size}"
        return Word(self, self.builder.call(self.known(name, self.type, [self.type] * 3), [a.value, b.value, c.value]))

    def place(self, kind: Any, array: Any, offset: Any) -> Any:
        """A place in a flat array."""
        return self.builder.gep(self.context.make_array(kind)(self.context, self.builder, array).data, [offset])

    def along(self, place: Any, step: Any, count: int) -> Any:
        """So many steps further."""
        return self.builder.gep(place, [self.builder.mul(step, I64(count))])

    def first(self, count: Any) -> None:
        """From here on, `read` and `write` touch the first count numbers of a word."""
        row = ir.Constant(ir.VectorType(I32, self.lanes), list(range(self.lanes)))
        self.mask = self.builder.icmp_signed("<", row, self.same(self.builder.trunc(count, I32)).value)

    def ahead(self, place: Any, written: bool = True) -> None:
        """Asks for a place in the first cache that is written to later, or in the second that is read."""
        address = self.builder.bitcast(place, ir.IntType(8).as_pointer())
        fetch = self.known("llvm.prefetch.p0", ir.VoidType(), [address.type, I32, I32, I32])
        self.builder.call(fetch, [address, I32(1 if written else 0), I32(3 if written else 2), I32(1)])

    def read(self, place: Any) -> Word:
        place = self.builder.bitcast(place, self.type.as_pointer())
        if self.mask is None:
            return Word(self, self.builder.load(place, align=self.size))
        name = f"llvm.masked.load.v{self.lanes}f{8 * self.size}.p0"
        load = self.known(name, self.type, [place.type, I32, self.mask.type, self.type])
        return Word(self, self.builder.call(load, [place, I32(self.size), self.mask, self.of(0.0).value]))

    def write(self, word: Word, place: Any) -> None:
        place = self.builder.bitcast(place, self.type.as_pointer())
        if self.mask is None:
            self.builder.store(word.value, place, align=self.size)
            return
        name = f"llvm.masked.store.v{self.lanes}f{8 * self.size}.p0"
        store = self.known(name, ir.VoidType(), [self.type, place.type, I32, self.mask.type])
        self.builder.call(store, [word.value, place, I32(self.size), self.mask])

    def turn(self, words: list[Any]) -> list[Any]:
        """A square of words, rows and columns exchanged: the blocks off the diagonal, ever smaller."""
        lanes, half = self.lanes, self.lanes // 2
        while half:
            upper = [k - half + lanes if k & half else k for k in range(lanes)]
            lower = [k + lanes if k & half else k + half for k in range(lanes)]
            fresh = list(words)
            for i in range(lanes):
                if not i & half:
                    for where, order in ((i, upper), (i + half, lower)):
                        picks = ir.Constant(ir.VectorType(I32, lanes), order)
                        fresh[where] = self.builder.shuffle_vector(words[i], words[i + half], picks)
            words, half = fresh, half // 2
        return words


@inserted
def turned_square(typing: Any, a: Any, a0: Any, ar: Any, b: Any, b0: Any, br: Any) -> Any:
    """Writes a square of words of a, rows ar apart, to b, rows br apart, with rows and columns exchanged."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature.args[0].dtype)
        left, right = (code.place(signature.args[k], args[k], args[k + 1]) for k in (0, 3))
        words = [code.read(code.along(left, args[2], k)).value for k in range(code.lanes)]
        for k, word in enumerate(code.turn(words)):
            code.write(Word(code, word), code.along(right, args[5], k))
        return context.get_dummy_value()

    return types.void(a, a0, ar, b, b0, br), made


def whole(width: int, size: int) -> int:
    """The width of a row with room for so many numbers of size bytes: an odd number of words.

    So rows below one another are not a power of 2 apart, which would all fall to the same places of a cache.
    """
    lanes = BYTES // size
    return (-(-width // lanes) | 1) * lanes


@inner
def rounded(width: Any, lanes: Any) -> Any:
    """`whole`, in numbers."""
    return (((width + lanes - 1) // lanes) | 1) * lanes


@inserted
def ahead(typing: Any, a: Any, a0: Any) -> Any:
    """Asks for a place in the first cache that is written to later."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature.args[0].dtype)
        code.ahead(code.place(signature.args[0], args[0], args[1]))
        return context.get_dummy_value()

    return types.void(a, a0), made


@inserted
def _tile(
    typing: Any, rows: Any, words: Any, a: Any, a0: Any, ar: Any, ak: Any, at: Any, b: Any, b0: Any, bk: Any, bt: Any,
    c: Any, c0: Any, cr: Any, depth: Any, turns: Any, adding: Any,
) -> Any:  # fmt: skip
    """`tiles` for as many rows as `_FITTING` says."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature.args[2].dtype)
        starts = [code.place(signature.args[k], args[k], args[k + 1]) for k in (2, 7, 11)]
        rows, words, _, _, ar, ak, at, _, _, bk, bt, _, _, cr, depth, turns, adding = args
        kept = builder.zext(builder.icmp_signed("!=", adding, adding.type(0)), I64)
        tiles = generation.get_or_insert_function(builder.module, _form(code), _name(code.size))
        builder.call(tiles, [*starts, rows, words, ar, ak, at, bk, bt, cr, depth, turns, kept])
        return context.get_dummy_value()

    given = (rows, words, a, a0, ar, ak, at, b, b0, bk, bt, c, c0, cr, depth, turns, adding)
    return types.void(*given), made


@inner
def tiles(
    rows: Any, words: Any, a: Any, a0: Any, ar: Any, ak: Any, at: Any, b: Any, b0: Any, bk: Any, bt: Any, c: Any,
    c0: Any, cr: Any, depth: Any, turns: Any, adding: Any,
) -> None:  # fmt: skip
    """C (+)= the sum over t of A_t B_t: C of rows x words, words <= WORDS.

    A_t's numbers are ar and ak apart, B_t's and C's rows bk and cr, A_t and A_{t+1} at, B_t and B_{t+1} bt. a0, b0, c0:
    where each begins; depth, turns >= 1: of k and t.
    """
    i = 0
    while i < rows:
        m = _FITTING[16 * words + min(15, rows - i)]
        _tile(m, words, a, a0 + i * ar, ar, ak, at, b, b0, bk, bt, c, c0 + i * cr, cr, depth, turns, adding)
        i += m


@bare_inlined
def put(a: Any, a0: Any, b: Any, b0: Any, count: Any, factor: Any) -> None:
    """A multiple of count numbers of a to b. Slices, whose places are not negative, become words."""
    one, other = a[a0 : a0 + count], b[b0 : b0 + count]
    for k in range(count):
        other[k] = factor * one[k]


@bare_inlined
def put_more(a: Any, a0: Any, b: Any, b0: Any, count: Any, factor: Any) -> None:
    """The same, added to what is there."""
    one, other = a[a0 : a0 + count], b[b0 : b0 + count]
    for k in range(count):
        other[k] += factor * one[k]


_READY: dict[int, Any] = {}


def ready(size: int) -> None:
    """Make the tiles of numbers of size bytes; passes find them by their name, and this must come before they run.

    All tiles are one function, as long as everything else together, which is compiled once and not in each pass.
    """
    if size not in _READY:
        _READY[size] = library = _compiled_tiles(size, stamp())
        processor.ll.add_symbol(_name(size), library.get_pointer_to_function(_name(size)))


def _name(size: int) -> str:
    return f"boundcheck_tiles_{size}_{stamp():x}"


def _form(code: Code) -> Any:
    return ir.FunctionType(ir.VoidType(), [code.real.as_pointer()] * 3 + [I64] * 11)


def _compiled_tiles(size: int, version: int) -> Any:
    """What numba has compiled, or found in its cache."""
    form = types.void(types.CPointer(types.float32 if size == 4 else types.float64))

    def tiles(a: Any) -> None:
        _ = version
        _tiles(a)

    try:
        made = numba.cfunc(form, cache=True, **UNCOUNTED)(tiles)
    except RuntimeError:  # numba found no writable place
        made = numba.cfunc(form, **UNCOUNTED)(tiles)
    inside: Any = made
    return inside._library


@inserted
def _tiles(typing: Any, a: Any) -> Any:
    """Puts a function of LLVM for all tiles beside the one that calls this, which uses it without carrying it out."""

    def made(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = Code(context, builder, signature.args[0].dtype)
        found = ir.Function(builder.module, _form(code), _name(code.size))
        found.attributes.add("noinline")
        a, b, c, rows, words, *numbers = found.args
        own = Code(context, ir.IRBuilder(found.append_basic_block("entry")), signature.args[0].dtype)
        end = own.builder.append_basic_block("end")
        choice = own.builder.switch(own.builder.add(own.builder.mul(rows, I64(WORDS + 1)), words), end)
        for n in range(1, WORDS + 1):
            for m in _SIZES[n]:
                block = own.builder.append_basic_block(f"tile_{m}_{n}")
                choice.add_case(I64(m * (WORDS + 1) + n), block)
                own.builder.position_at_end(block)
                _one_tile(own, m, n, [a, b, c], *numbers)
                own.builder.branch(end)
        own.builder.position_at_end(end)
        own.builder.ret_void()
        builder.call(found, [args[0]] * 3 + [I64(0)] * 11)  # no tile has no rows
        return context.get_dummy_value()

    return types.void(a), made


def _one_tile(
    code: Code, m: int, n: int, starts: list[Any], ar: Any, ak: Any, at: Any, bk: Any, bt: Any, cr: Any, depth: Any,
    turns: Any, adding: Any,
) -> None:  # fmt: skip
    builder, (a, b, c) = code.builder, starts
    here = builder.block
    kept, turn, loop, turned, done = (builder.append_basic_block(x) for x in ("kept", "turn", "loop", "turned", "done"))
    grid = [(i, j) for i in range(m) for j in range(n)]
    results = [builder.gep(c, [builder.add(builder.mul(cr, I64(i)), I64(j * code.lanes))]) for i, j in grid]
    for place in results:  # on their way while the sums are made
        code.ahead(place)
    builder.cbranch(builder.icmp_signed("!=", adding, adding.type(0)), kept, turn)
    builder.position_at_end(kept)
    old = [code.read(place) for place in results]
    builder.branch(turn)

    builder.position_at_end(turn)
    t, left_t, right_t = builder.phi(I64), builder.phi(a.type), builder.phi(b.type)
    sums_t = [builder.phi(code.type) for _ in grid]
    builder.branch(loop)

    builder.position_at_end(loop)
    k, left, right = builder.phi(I64), builder.phi(a.type), builder.phi(b.type)
    sums = [builder.phi(code.type) for _ in grid]
    row = [code.read(builder.gep(right, [I64(j * code.lanes)])) for j in range(n)]
    new: list[Any] = []
    for i in range(m):
        number = code.same(builder.load(code.along(left, ar, i), align=code.size))
        new += [code.fused(number, row[j], Word(code, sums[i * n + j])).value for j in range(n)]
    more = builder.add(k, I64(1))
    onwards = (builder.gep(left, [ak]), builder.gep(right, [bk]))
    builder.cbranch(builder.icmp_signed("<", more, depth), loop, turned)
    for block, values in ((turn, (I64(0), left_t, right_t, *sums_t)), (loop, (more, *onwards, *new))):
        for phi, value in zip((k, left, right, *sums), values, strict=True):
            phi.add_incoming(value, block)

    builder.position_at_end(turned)
    next_t = builder.add(t, I64(1))
    further = (builder.gep(left_t, [at]), builder.gep(right_t, [bt]))
    builder.cbranch(builder.icmp_signed("<", next_t, turns), turn, done)
    zero = code.of(0.0).value
    for block, values in (
        (here, (I64(0), a, b, *[zero] * len(grid))),
        (kept, (I64(0), a, b, *[word.value for word in old])),
        (turned, (next_t, *further, *new)),
    ):
        for phi, value in zip((t, left_t, right_t, *sums_t), values, strict=True):
            phi.add_incoming(value, block)
    builder.position_at_end(done)
    for place, value in zip(results, new, strict=True):
        code.write(Word(code, value), place)
