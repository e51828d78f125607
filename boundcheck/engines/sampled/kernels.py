"""The compiled path's steps: `execute` carries out a stretch of the plan.

It is specialised through argument types, since a tuple's length is a constant to the compiler and branches on it
disappear: `zero` has the dimension's length (points then are vectors in registers, see `Points`) or is an array for
dimensions too large for that; `together` has as many entries as seeds walk side by side; the lengths of `kind` and
`work` are the oracle and the local work below.
Seeds side by side fill the processor while each waits for its own last step. No operation mixes seeds and none is
reordered, so that a seed's numbers are those of the NumPy path's formulas, whoever walks beside it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic, overload, register_model

from boundcheck.engines.sampled.jit import INLINED, OPTIONS, inlined, jit

ISOTROPIC, MATRIX, ROWS = 1, 2, 3  # lengths of `kind`
FULL, EPOCH, MINIBATCH = 1, 2, 3  # lengths of `work`: a client's own gradients, its samples one by one or in batches

generation: Any = cgutils
ir = generation.ir  # llvmlite's, in the version that numba brings
with_entry: Any = tuple_setitem
inserted: Any = intrinsic


def compiled(function: Any) -> Any:
    """Decorates what chooses, from the arguments' types, the code that stands for `function`."""
    decorate: Any = overload
    return decorate(function, strict=False, jit_options=OPTIONS | INLINED)


def padded(dim: int) -> int:
    """Entries of a vector that holds a point of `dim` entries: compilers do well with powers of two only."""
    return 1 << (dim - 1).bit_length()


class Points(types.Type):
    """Points of `seeds` seeds in one vector, `width` entries each; those from the dimension on hold nothing of use."""

    def __init__(self, dim: int, seeds: int) -> None:
        self.dim, self.seeds, self.width = dim, seeds, padded(dim)
        super().__init__(f"Points({dim}, {seeds})")

    def vector(self, width: int | None = None) -> Any:
        """The compiler's type of these points, or of `width` entries."""
        return ir.VectorType(ir.DoubleType(), width or self.seeds * self.width)

    def spread(self, lanes: Sequence[int]) -> list[int]:
        """The lane of each entry that repeats lanes[s] over the entries of seed s."""
        return [lane for lane in lanes for _ in range(self.width)]


@register_model(Points)
class _PointsModel(PrimitiveModel):
    def __init__(self, manager: Any, points: Points) -> None:
        super().__init__(manager, points, points.vector())


def picked(builder: Any, vector: Any, lanes: Sequence[int], other: Any = None) -> Any:
    """The entries of `vector` (and, numbered on, `other`) at fixed lanes."""
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
    other = ir.Constant(vector.type, ir.Undefined) if other is None else other
    return builder.shuffle_vector(vector, other, mask)


def of_entries(builder: Any, entries: Sequence[Any]) -> Any:
    """A vector of these doubles."""
    vector = ir.Constant(ir.VectorType(ir.DoubleType(), len(entries)), ir.Undefined)
    for lane, entry in enumerate(entries):
        vector = builder.insert_element(vector, entry, ir.Constant(ir.IntType(32), lane))
    return vector


def joined(builder: Any, parts: list[Any]) -> Any:
    """Vectors of one length, a power of two of them, one after the other."""
    while len(parts) > 1:
        lanes = range(2 * parts[0].type.count)
        parts = [picked(builder, a, lanes, b) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def address(context: Any, builder: Any, array_type: Any, array: Any, index: Sequence[Any]) -> Any:
    """The address of an array's entry."""
    index = [i if isinstance(i, ir.Value) else ir.Constant(ir.IntType(64), i) for i in index]
    view = context.make_array(array_type)(context, builder, array)
    return generation.get_item_pointer(context, builder, array_type, view, index, wraparound=False)


def row(context: Any, builder: Any, like: Points, array_type: Any, array: Any, index: Sequence[Any]) -> Any:
    """The entries of a row, one a lane, as a vector."""
    at = address(context, builder, array_type, array, [*index, 0])
    return builder.load(builder.bitcast(at, like.vector(like.width).as_pointer()), align=8)


def _each_seed(builder: Any, indices: Any) -> list[Any]:
    return generation.unpack_tuple(builder, indices)


def _binary(instruction: str) -> Any:
    @inserted
    def compute(typing: Any, a: Any, b: Any) -> Any:
        return a(a, b), lambda context, builder, signature, args: getattr(builder, instruction)(*args)

    return compute


@inserted
def splat(typing: Any, like: Any, value: Any) -> Any:
    """One number for all entries of all seeds."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return picked(builder, of_entries(builder, [args[1]]), [0] * (like.seeds * like.width))

    return like(like, types.float64), generate


@inserted
def no_points(typing: Any, zero: Any, together: Any) -> Any:
    """Points whose values are not set yet."""
    points = Points(zero.count, together.count)
    return points(zero, together), lambda context, builder, signature, args: ir.Constant(points.vector(), None)


@inserted
def read_points(typing: Any, like: Any, state: Any, who: Any) -> Any:
    """Rows who of state (S, d)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entries: list[Any] = []
        for s in _each_seed(builder, args[2]):
            own = [builder.load(address(context, builder, state, args[1], [s, k])) for k in range(like.dim)]
            entries += own + [ir.Constant(ir.DoubleType(), 0.0)] * (like.width - like.dim)
        return of_entries(builder, entries)

    return like(like, state, who), generate


@inserted
def write_points(typing: Any, points: Any, g: Any, who: Any, x: Any) -> Any:
    """points[who, g] = x for points (S, G, d)."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for number, s in enumerate(_each_seed(builder, args[2])):
            for k in range(x.dim):
                entry = builder.extract_element(args[3], ir.Constant(ir.IntType(32), number * x.width + k))
                builder.store(entry, address(context, builder, points, args[0], [s, args[1], k]))
        return context.get_dummy_value()

    return types.void(points, types.uint64, who, x), generate


@inserted
def rows(typing: Any, like: Any, table: Any, j: Any) -> Any:
    """Row j[s] of table (N, width) for each seed s."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        own = [row(context, builder, like, table, args[1], [i]) for i in _each_seed(builder, args[2])]
        return joined(builder, own)

    return like(like, table, j), generate


@inserted
def scalars(typing: Any, like: Any, values: Any, j: Any) -> Any:
    """values[j[s]] in all entries of each seed s."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        own = [builder.load(address(context, builder, values, args[1], [i])) for i in _each_seed(builder, args[2])]
        return picked(builder, of_entries(builder, own), like.spread(range(like.seeds)))

    return like(like, values, j), generate


@inserted
def product(typing: Any, matrices: Any, j: Any, y: Any) -> Any:
    """(matrix j[s]) y for each seed s, sums in order; matrices (N, d, width) holds columns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        total = None
        for k in range(y.dim):
            own = [row(context, builder, y, matrices, args[0], [i, k]) for i in _each_seed(builder, args[1])]
            entry = picked(builder, args[2], y.spread([s * y.width + k for s in range(y.seeds)]))
            term = builder.fmul(joined(builder, own), entry)
            total = term if total is None else builder.fadd(total, term)
        return total

    return y(matrices, j, y), generate


@inserted
def dot(typing: Any, a: Any, y: Any) -> Any:
    """The inner product of each seed's two points, a sum in order, in all entries of the seed."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        terms, total = builder.fmul(*args), None
        for k in range(y.dim):
            term = picked(builder, terms, [s * y.width + k for s in range(y.seeds)])
            total = term if total is None else builder.fadd(total, term)
        return picked(builder, total, y.spread(range(y.seeds)))

    return y(a, y), generate


def _arithmetic(operation: Any, compute: Any) -> None:
    """Let points be combined with points and, entry by entry, with numbers."""

    @compiled(operation)
    def combine(a: Any, b: Any) -> Any:
        if isinstance(a, Points) and isinstance(b, Points):
            return lambda a, b: compute(a, b)
        if isinstance(b, Points) and isinstance(a, types.Float):
            return lambda a, b: compute(splat(b, a), b)
        if isinstance(a, Points) and isinstance(b, types.Number):
            return lambda a, b: compute(a, splat(a, np.float64(b)))
        return None


_arithmetic(operator.add, _binary("fadd"))
_arithmetic(operator.sub, _binary("fsub"))
_arithmetic(operator.mul, _binary("fmul"))
_arithmetic(operator.truediv, _binary("fdiv"))


def vectors(compute: Any) -> Any:
    """Decorates a function that changes its array argument in place with its counterpart for points in registers."""

    def decorate(in_place: Any) -> Any:
        @compiled(in_place)
        def choose(*arguments: Any) -> Any:
            return compute if any(isinstance(a, Points) for a in arguments) else in_place

        return in_place

    return decorate


@vectors(lambda x, state, who: read_points(x, state, who))
def start(x: Any, state: Any, who: Any) -> Any:
    """x := the rows `who` of state."""
    for k in range(len(x)):
        x[k] = state[who[0], k]
    return x


@vectors(lambda points, g, who, x: write_points(points, np.uint64(g), who, x))
def record(points: Any, g: Any, who: Any, x: Any) -> None:
    """points[who, g] = x."""
    for k in range(len(x)):
        points[who[0], g, k] = x[k]


@vectors(lambda y, x: x)
def assigned(y: Any, x: Any) -> Any:
    """y := x."""
    for k in range(len(y)):
        y[k] = x[k]
    return y


@vectors(lambda y, eta, g: y - eta * g)
def moved(y: Any, eta: Any, g: Any) -> Any:
    """y - eta * g."""
    for k in range(len(y)):
        y[k] -= eta * g[k]
    return y


@vectors(lambda g, more: g + more)
def added(g: Any, more: Any) -> Any:
    """g + more."""
    for k in range(len(g)):
        g[k] += more[k]
    return g


@vectors(lambda g, count: g / count)
def divided(g: Any, count: Any) -> Any:
    """g / count."""
    for k in range(len(g)):
        g[k] /= count
    return g


@vectors(lambda after, weight, y, x: after + weight * (y - x))
def weighted(after: Any, weight: Any, y: Any, x: Any) -> Any:
    """after + weight * (y - x)."""
    for k in range(len(y)):
        after[k] += weight * (y[k] - x[k])
    return after


@vectors(lambda g, y, j, oracle: scalars(y, oracle[0], j) * y - rows(y, oracle[1], j))
def isotropic(g: Any, y: Any, j: Any, oracle: Any) -> Any:
    """curvature y - b."""
    h, b = oracle[0][j[0]], oracle[1][j[0]]
    for k in range(len(y)):
        g[k] = h * y[k] - b[k]
    return g


@vectors(lambda g, y, j, oracle: product(oracle[3], j, y) - rows(y, oracle[1], j))
def matrix(g: Any, y: Any, j: Any, oracle: Any) -> Any:
    """A y - b."""
    b, columns = oracle[1][j[0]], oracle[3][j[0]]
    # entry by entry sums in order, but neighbours in memory go side by side
    for i in range(len(y)):
        g[i] = columns[0, i] * y[0]
    for k in range(1, len(y)):
        for i in range(len(y)):
            g[i] += columns[k, i] * y[k]
    for i in range(len(y)):
        g[i] -= b[i]
    return g


def _row_vectors(g: Any, y: Any, j: Any, oracle: Any) -> Any:
    a = rows(y, oracle[1], j)
    return scalars(y, oracle[0], j) * (dot(a, y) - scalars(y, oracle[2], j)) * a


@vectors(_row_vectors)
def row_products(g: Any, y: Any, j: Any, oracle: Any) -> Any:
    """scale (a'y - target) a."""
    scale, a, target = oracle[0][j[0]], oracle[1][j[0]], oracle[2][j[0]]
    total = a[0] * y[0]
    for k in range(1, len(y)):
        total += a[k] * y[k]
    residual = scale * (total - target)
    for k in range(len(y)):
        g[k] = residual * a[k]
    return g


def fresh(zero: Any, together: Any) -> Any:
    """Points like `zero`."""
    return np.zeros_like(zero)


@compiled(fresh)
def _fresh(zero: Any, together: Any) -> Any:
    return (lambda zero, together: no_points(zero, together)) if isinstance(zero, types.BaseTuple) else fresh


def gradient(kind: Any, g: Any, y: Any, j: Any, oracle: Any) -> Any:
    """The gradient of component j[s] at each seed's y."""
    return (isotropic, matrix, row_products)[len(kind) - 1](g, y, j, oracle)


@compiled(gradient)
def _gradient(kind: Any, g: Any, y: Any, j: Any, oracle: Any) -> Any:
    chosen = {ISOTROPIC: isotropic, MATRIX: matrix, ROWS: row_products}[kind.count]
    return lambda kind, g, y, j, oracle: chosen(g, y, j, oracle)


@inlined
def drawn_samples(together: Any, sequence: Any, who: Any, at: Any) -> Any:
    """The component that each seed visits at place `at` of its sequence."""
    for i in range(len(together)):
        together = with_entry(together, i, np.uint64(sequence[who[i], at]))
    return together


def _execute(
    zero: Any, together: Any, kind: Any, work: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any,
    points: Any, drawn: Any, fixed: Any, cohort: Any, sequence: Any, width: Any, sizes: Any,
    coefficients: Any, steps: Any, rounds_per_cycle: Any, repeats: Any, batch: Any,
    oracle: Any,
) -> None:  # fmt: skip
    """Carry out rounds first..first+rounds-1 of every seed from state (S, 1, d), updated in place.

    points (S, G, d) receives the state after stops[g] rounds; `stop` is the first g with stops[g] > first.
    oracle: curvatures (N,), vectors (N, width), targets (N,) and columns of matrices (N, d, width), of components or,
    where `work` is FULL, of clients. Cohorts that are drawn differ between seeds, which then walk alone.
    """
    m = coefficients.shape[1]
    period = len(coefficients)
    last = len(state) - 1
    one = np.uint64(1)
    who = together
    j = together
    x = fresh(zero, together)
    y = fresh(zero, together)
    g = fresh(zero, together)
    more = fresh(zero, together)
    after = fresh(zero, together)
    for s in range(0, len(state), len(together)):
        for i in range(len(together)):
            who = with_entry(who, i, np.uint64(min(s + i, last)))  # the last seed may walk more than once
        x = start(x, state[:, 0], who)
        next_stop = stop
        row = first % period
        cycle = first // rounds_per_cycle
        left = (cycle + 1) * rounds_per_cycle - first  # rounds of this cycle still to run
        for q in range(rounds):
            eta = steps[cycle]
            at = np.uint64(q * width)
            after = assigned(after, x)
            for p in range(m):
                c = np.uint64(cohort[s, q, p] if drawn else fixed[row, p])
                y = assigned(y, x)
                if len(work) == FULL:
                    j = with_entry(j, 0, c)
                    for _ in range(repeats):
                        g = gradient(kind, g, y, j, oracle)
                        y = moved(y, eta, g)
                elif len(work) == EPOCH:
                    end = at + np.uint64(repeats) * sizes[c]
                    while at < end:
                        j = drawn_samples(together, sequence, who, at)
                        g = gradient(kind, g, y, j, oracle)
                        y = moved(y, eta, g)
                        at += one
                else:
                    for _ in range(repeats):
                        done = at + sizes[c]
                        while at < done:
                            begin = at
                            end = min(at + np.uint64(batch), done)
                            j = drawn_samples(together, sequence, who, at)
                            g = gradient(kind, g, y, j, oracle)
                            at += one
                            while at < end:
                                j = drawn_samples(together, sequence, who, at)
                                more = gradient(kind, more, y, j, oracle)
                                g = added(g, more)
                                at += one
                            y = moved(y, eta, divided(g, np.float64(end - begin)))
                after = weighted(after, coefficients[row, p], y, x)
            x = assigned(x, after)
            row = row + 1 if row + 1 < period else 0
            left -= 1
            if left == 0:
                cycle += 1
                left = rounds_per_cycle
            if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                record(points, next_stop, who, x)
                next_stop += 1
        record(state, 0, who, x)


execute = jit(_execute)
