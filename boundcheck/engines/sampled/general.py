"""The general compiled path's steps: `execute` carries out a stretch of a plan for any visits and any flat arrays.

Rows of data are padded with zeros to a multiple of 8 entries, and points likewise (a softmax point row by row), so
that inner products and sums over a batch run in 8 lanes without a remainder. The order of operations is fixed and no
operation mixes seeds: a seed's numbers do not depend on which others run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.datamodel.models import PrimitiveModel
from numba.extending import intrinsic, register_model

from boundcheck.engines.sampled.jit import bare, bare_inlined

__all__ = [
    "ISOTROPIC", "LANES", "LOGISTIC", "NONE", "PRACTICAL", "QUADRATIC", "REDUCED", "ROWS", "SOFTMAX", "execute",
    "full_gradients",
]  # fmt: skip

LANES = 8
ISOTROPIC, QUADRATIC, ROWS, LOGISTIC, SOFTMAX = 0, 1, 2, 3, 4  # kinds of arrays
NONE, REDUCED, PRACTICAL = 0, 1, 2  # kinds of momentum


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
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, vector)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: list[Any]) -> Any:
    view = context.make_array(array_type)(context, builder, array)
    at = generation.get_item_pointer(context, builder, array_type, view, index, wraparound=False)
    return builder.bitcast(at, vector.as_pointer())


@inserted
def zeros(typing: Any) -> Any:
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


@bare_inlined
def dot(b: Any, j: Any, y: Any, begin: Any) -> Any:
    """The inner product of row j of b with y from `begin` on."""
    total = zeros()
    for k in range(0, b.shape[1], 8):
        total = plus(total, times(loaded(b, (j, k)), loaded(y, (begin + k,))))
    return summed(total)


@bare_inlined
def combine(
    b: Any,
    samples: Any,
    at: Any,
    count: Any,
    residual: Any,
    first: Any,
    stride: Any,
    ridge: Any,
    y: Any,
    g: Any,
    to: Any,
) -> None:
    """g from `to` on = ridge y + the sum of residual[first + t stride] times row samples[at + t] of b."""
    for k in range(0, b.shape[1], 8):
        total = times(spread(ridge), loaded(y, (to + k,)))
        for t in range(count):
            r = spread(residual[first + t * stride])
            total = plus(total, times(r, loaded(b, (np.int64(samples[at + t]), k))))
        stored(g, (to + k,), total)


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
def added(to: Any, a: Any, y: Any, b: Any, x: Any) -> None:
    """to := to + a (y - b x)."""
    for k in range(0, len(to), 8):
        difference = minus(loaded(y, (k,)), times(spread(b), loaded(x, (k,))))
        stored(to, (k,), plus(loaded(to, (k,)), times(spread(a), difference)))


@bare_inlined
def softmax(score: Any, begin: Any, classes: Any, label: Any) -> None:
    """Turn the scores of a sample, from `begin` on, into the derivatives of its cross entropy."""
    top = score[begin]
    for c in range(1, classes):
        top = max(top, score[begin + c])
    total = 0.0
    for c in range(classes):
        score[begin + c] = math.exp(score[begin + c] - top)
        total += score[begin + c]
    for c in range(classes):
        score[begin + c] /= total
    score[begin + label] -= 1.0


@bare_inlined
def mean_gradient(
    kind: Any, classes: Any, ridge: Any, b: Any, target: Any, curvature: Any, columns: Any,
    y: Any, samples: Any, at: Any, count: Any, residual: Any, g: Any,
) -> None:  # fmt: skip
    """g = the mean gradient of components samples[at], ..., samples[at + count - 1] at y."""
    width = b.shape[1]
    weight = 1.0 / count
    if kind == SOFTMAX:
        for c in range(classes):
            for t in range(count):
                residual[t * classes + c] = dot(b, np.int64(samples[at + t]), y, c * width)
        for t in range(count):
            softmax(residual, t * classes, classes, np.int64(target[samples[at + t]]))
        for t in range(count * classes):
            residual[t] *= weight
        for c in range(classes):
            combine(b, samples, at, count, residual, c, classes, ridge, y, g, c * width)
    elif kind in (LOGISTIC, ROWS):
        for t in range(count):
            residual[t] = dot(b, np.int64(samples[at + t]), y, 0)
        if kind == LOGISTIC:
            for t in range(count):
                label = target[samples[at + t]]
                residual[t] = -label / (1.0 + math.exp(label * residual[t])) * weight
        else:
            for t in range(count):
                j = samples[at + t]
                residual[t] = curvature[j] * (residual[t] - target[j]) * weight
        combine(b, samples, at, count, residual, 0, 1, ridge, y, g, 0)
    else:
        for i in range(0, width, 8):
            here = loaded(y, (i,))
            total = zeros()
            for t in range(count):
                j = np.int64(samples[at + t])
                linear = zeros()
                if kind == ISOTROPIC:
                    linear = times(spread(curvature[j]), here)
                else:
                    for k in range(columns.shape[1]):
                        linear = plus(linear, times(loaded(columns, (j, k, i)), spread(y[k])))
                total = plus(total, minus(linear, loaded(b, (j, i))))
            stored(g, (i,), plus(times(spread(weight), total), times(spread(ridge), here)))


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


def _full_gradient(oracle: Any, y: Any, row: Any, begin: Any, size: Any, every: Any, residual: Any, g: Any) -> None:
    """g = the gradient at y of the client of row `row` of the clients' matrices, or who holds so many components."""
    kind, classes, ridge, b, target, curvature, columns, total, client_columns, client_b = oracle
    if len(client_columns) == 0:
        mean_gradient(kind, classes, ridge, b, target, curvature, columns, y, every, begin, size, residual, g)
        if total:
            for i in range(len(g)):
                g[i] *= size
        return
    for i in range(0, client_columns.shape[2], 8):
        linear = zeros()
        for k in range(client_columns.shape[1]):
            linear = plus(linear, times(loaded(client_columns, (row, k, i)), spread(y[k])))
        stored(g, (i,), minus(linear, loaded(client_b, (row, i))))


full_gradient = bare(_full_gradient)


def _full_gradients(
    oracle: Any, x: Any, row: Any, begin: Any, size: Any, every: Any, work: Any, residual: Any, out: Any
) -> None:
    """The gradient of such a client at each row of x (S, d), to out (S, d). work, residual: see `execute`."""
    classes = oracle[1]
    for s in range(len(x)):
        read(x[s], work[0], classes)
        full_gradient(oracle, work[0], row, begin, size, every, residual, work[1])
        write(work[1], out[s], classes)


full_gradients = bare(_full_gradients)


def _execute(
    oracle: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any, points: Any, starts: Any,
    counts: Any, entry: Any, place: Any, sequence: Any, every: Any,
    rows: Any, begins: Any, sizes: Any, steps: Any, scale: Any, factor: Any, share: Any, weight: Any,
    shared: Any, count_all: Any, full: Any, batch: Any, eta: Any, momentum: Any, fresh: Any, keep: Any,
    work: Any, residual: Any,
) -> None:  # fmt: skip
    """Carry out rounds first..first+rounds-1 of every seed from state (S, parts, d), updated in place.

    points (S, G, d) receives the server's point after stops[g] rounds; `stop` is the first g with stops[g] > first.
    starts (S, epochs, d): the points before each epoch, or (0, 0, 0) where nobody asks.
    counts (S, rounds): sizes of the cohorts; entry, place (S, rounds, m): each visit's row in the tables `rows`
    (of the clients' matrices), `begins`, ..., `share`, and where its samples begin in `sequence`. eta: (rounds,).
    shared: whether coefficients are multiplied by a factor of their cohort, 1 over the sum of its entries of `weight`,
    times count_all over its size if that is not 0.
    momentum: NONE, REDUCED or PRACTICAL, with a = fresh and 1 - a = keep. work (8, padded), zeros, and residual
    (classes * the largest client's components): room to work.
    """
    kind, classes, ridge, b, target, curvature, columns = oracle[:7]
    x, y, g, anchor = work[0], work[1], work[2], work[3]
    after, m, before, direction = work[4], work[5], work[6], work[7]
    for s in range(len(state)):
        read(state[s, 0], x, classes)
        if momentum != NONE:
            read(state[s, 1], m, classes)
            read(state[s, 2], before, classes)
        next_stop = stop
        for q in range(rounds):
            common = 1.0
            if shared and counts[s, q] > 0:
                total = 0.0
                for p in range(counts[s, q]):
                    total += weight[entry[s, q, p]]
                common = (count_all / counts[s, q] if count_all > 0 else 1.0) / total
            if momentum == REDUCED and first + q > 0:
                blended(m, keep, 0.0, x)
                for p in range(counts[s, q]):
                    e = entry[s, q, p]
                    full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, g)
                    full_gradient(oracle, before, rows[e], begins[e], sizes[e], every, residual, anchor)
                    added(m, share[e], g, keep, anchor)
            copied(after, x)
            direction[:] = 0.0
            for p in range(counts[s, q]):
                e = entry[s, q, p]
                rate = eta[q] * scale[e]
                at = place[s, q, p]
                left = sizes[e]
                epoch = 0
                copied(y, x)
                for _ in range(steps[e]):
                    if len(starts) and (full or left == sizes[e]):
                        write(y, starts[s, epoch], classes)
                        epoch += 1
                    count = min(batch, left)
                    if full:
                        full_gradient(oracle, y, rows[e], begins[e], sizes[e], every, residual, g)
                    else:
                        mean_gradient(
                            kind, classes, ridge, b, target, curvature, columns, y, sequence, at, count, residual, g
                        )  # fmt: skip
                    if momentum == REDUCED:
                        if full:
                            full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, anchor)
                        else:
                            mean_gradient(
                                kind, classes, ridge, b, target, curvature, columns, x, sequence, at, count, residual,
                                anchor,
                            )  # fmt: skip
                        added(g, keep, m, 1.0, anchor)
                    elif momentum == PRACTICAL:
                        blended(g, fresh, keep, m)
                    moved(y, -rate, g)
                    at += count
                    left -= count
                    if left == 0:
                        left = sizes[e]
                added(after, factor[e] * common, y, 1.0, x)
                if momentum == PRACTICAL and steps[e] > 0:
                    added(direction, share[e] / (steps[e] * rate), x, 1.0, y)
            if momentum == PRACTICAL:
                blended(m, keep, fresh, direction)
            copied(before, x)
            copied(x, after)
            if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                write(x, points[s, next_stop], classes)
                next_stop += 1
        write(x, state[s, 0], classes)
        if momentum != NONE:
            write(m, state[s, 1], classes)
            write(before, state[s, 2], classes)


execute = bare(_execute)
