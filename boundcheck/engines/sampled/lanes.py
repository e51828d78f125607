"""8 numbers side by side: the arithmetic of the general compiled path.

Points are padded with zeros to a multiple of 8 entries, a softmax point row by row, so that no loop has a remainder.
"""

from __future__ import annotations

import math
from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

from boundcheck.engines.sampled.jit import bare_inlined

LANES = 8

generation: Any = cgutils
ir = generation.ir  # llvmlite's, in the version that numba brings
inserted: Any = intrinsic


class Lanes(types.Type):
    """8 numbers side by side, in a register where the processor has wide ones."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()
vector = ir.VectorType(ir.DoubleType(), LANES)


@register_model(Lanes)
class LanesModel(PrimitiveModel):
    """How numba stores lanes: as one vector."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, vector)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: list[Any]) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    at = generation.get_item_pointer(context, builder, array_type, view, index, wraparound=False)
    return builder.bitcast(at, vector.as_pointer())


@inserted
def zeros(typing: Any) -> Any:
    """0 in all lanes."""
    return lanes(), lambda context, builder, signature, args: ir.Constant(vector, None)


@inserted
def loaded(typing: Any, values: Any, index: Any) -> Any:
    """values[..., index[-1]] and the 7 entries after it; the last axis is contiguous."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, values, args[0], generation.unpack_tuple(builder, args[1]))
        return builder.load(at, align=8)

    return lanes(values, index), generate


@inserted
def stored(typing: Any, values: Any, index: Any, v: Any) -> Any:
    """v to values[index] and the 7 entries after it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, values, args[0], generation.unpack_tuple(builder, args[1]))
        builder.store(args[2], at, align=8)
        return context.get_dummy_value()

    return types.void(values, index, v), generate


@inserted
def spread(typing: Any, number: Any) -> Any:
    """One number in all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        one = builder.insert_element(ir.Constant(vector, ir.Undefined), args[0], ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))

    return lanes(types.float64), generate


def _binary(instruction: str) -> Any:
    @inserted
    def compute(typing: Any, a: Any, b: Any) -> Any:
        return lanes(lanes, lanes), lambda context, builder, signature, args: getattr(builder, instruction)(*args)

    return compute


plus, minus, times = _binary("fadd"), _binary("fsub"), _binary("fmul")


@inserted
def fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once (slow, and the same, on a processor without such an instruction)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(vector, [vector] * 3)
        function = generation.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(function, args)

    return lanes(lanes, lanes, lanes), generate


@inserted
def summed(typing: Any, v: Any) -> Any:
    """The sum of the lanes, halves first."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        part, count = args[0], LANES
        while count > 1:
            count //= 2
            masks = (ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(k, k + count))) for k in (0, count))
            low, high = (builder.shuffle_vector(part, part, mask) for mask in masks)
            part = builder.fadd(low, high)
        return builder.extract_element(part, ir.Constant(ir.IntType(32), 0))

    return types.float64(lanes), generate


@inserted
def powers(typing: Any, v: Any) -> Any:
    """2^v of whole numbers from -1022 to 1023, to each of which 1.5 * 2^52 was added."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        whole = ir.VectorType(ir.IntType(64), LANES)
        bits = builder.bitcast(args[0], whole)
        biased = builder.add(bits, ir.Constant(whole, [1023] * LANES))
        return builder.bitcast(builder.shl(biased, ir.Constant(whole, [52] * LANES)), vector)

    return lanes(lanes), generate


@inserted
def above(typing: Any, v: Any, least: Any) -> Any:
    """The larger of each number and `least`; not-a-number stays."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[1], args[0])

    return lanes(lanes, lanes), generate


ROUNDER = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to a whole number
PER_LN2 = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # whole multiples of the first are exact
LEAST = -708.0  # below, exp is taken to be exp(-708), about 3e-308


@bare_inlined
def exponential(v: Any) -> Any:
    """exp of numbers that are at most 0, within two units in the last place."""
    v = above(v, spread(LEAST))
    rounded = plus(times(v, spread(PER_LN2)), spread(ROUNDER))
    whole = minus(rounded, spread(ROUNDER))
    r = minus(minus(v, times(whole, spread(LN2_HIGH))), times(whole, spread(LN2_LOW)))
    # Taylor's polynomial; |r| is at most ln(2)/2, and the first term left out is below 2^-57
    p = fused(spread(1.0 / 6227020800.0), r, spread(1.0 / 479001600.0))
    p = fused(p, r, spread(1.0 / 39916800.0))
    p = fused(p, r, spread(1.0 / 3628800.0))
    p = fused(p, r, spread(1.0 / 362880.0))
    p = fused(p, r, spread(1.0 / 40320.0))
    p = fused(p, r, spread(1.0 / 5040.0))
    p = fused(p, r, spread(1.0 / 720.0))
    p = fused(p, r, spread(1.0 / 120.0))
    p = fused(p, r, spread(1.0 / 24.0))
    p = fused(p, r, spread(1.0 / 6.0))
    p = fused(p, r, spread(0.5))
    p = fused(p, r, spread(1.0))
    p = fused(p, r, spread(1.0))
    return times(p, powers(rounded))


@bare_inlined
def exponentials(values: Any, count: Any) -> None:
    """values[k] := exp(values[k]), k < count, of numbers that are at most 0; up to 7 entries behind are changed too."""
    for k in range(0, count, 8):
        stored(values, (k,), exponential(loaded(values, (k,))))


@bare_inlined
def copied(to: Any, x: Any) -> None:
    """to := x."""
    for k in range(0, len(to), 8):
        stored(to, (k,), loaded(x, (k,)))


@bare_inlined
def moved(y: Any, a: Any, g: Any) -> None:
    """y := y + a g."""
    for k in range(0, len(y), 8):
        stored(y, (k,), plus(loaded(y, (k,)), times(spread(a), loaded(g, (k,)))))


@bare_inlined
def blended(y: Any, a: Any, b: Any, g: Any) -> None:
    """y := a y + b g."""
    for k in range(0, len(y), 8):
        stored(y, (k,), plus(times(spread(a), loaded(y, (k,))), times(spread(b), loaded(g, (k,)))))


@bare_inlined
def clipped(y: Any, most: Any) -> None:
    """y := y min(1, most/|y|)."""
    total = zeros()
    for k in range(0, len(y), 8):
        total = fused(loaded(y, (k,)), loaded(y, (k,)), total)
    norm = math.sqrt(summed(total))
    if norm > most:
        blended(y, most / norm, 0.0, y)


@bare_inlined
def added(to: Any, a: Any, y: Any, b: Any, x: Any) -> None:
    """to := to + a (y - b x)."""
    for k in range(0, len(to), 8):
        difference = minus(loaded(y, (k,)), times(spread(b), loaded(x, (k,))))
        stored(to, (k,), plus(loaded(to, (k,)), times(spread(a), difference)))


@bare_inlined
def shifted(y: Any, rate: Any, g: Any, by: Any, prox: Any, x: Any) -> None:
    """y := y - rate (g + by + prox (y - x))."""
    for k in range(0, len(y), 8):
        here = loaded(y, (k,))
        direction = plus(loaded(g, (k,)), loaded(by, (k,)))
        direction = plus(direction, times(spread(prox), minus(here, loaded(x, (k,)))))
        stored(y, (k,), minus(here, times(spread(rate), direction)))


@bare_inlined
def read(row: Any, x: Any, classes: Any) -> None:
    """The padded x = a point as problems know it."""
    inner, width = len(row) // classes, len(x) // classes
    for c in range(classes):
        for k in range(inner):
            x[c * width + k] = row[c * inner + k]


@bare_inlined
def write(x: Any, row: Any, classes: Any) -> None:
    """The opposite of `read`."""
    inner, width = len(row) // classes, len(x) // classes
    for c in range(classes):
        for k in range(inner):
            row[c * inner + k] = x[c * width + k]
