"""Gradients of flat arrays on the general compiled path: of a batch of components, and of a client as a whole.

Rows of data are padded with zeros to a multiple of 8 entries, and points likewise (see `lanes`), so that inner products
and sums over a batch run in 8 lanes without a remainder.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boundcheck.engines.sampled.jit import bare, bare_inlined
from boundcheck.engines.sampled.lanes import (
    added,
    exponentials,
    fused,
    loaded,
    minus,
    plus,
    spread,
    stored,
    summed,
    times,
    zeros,
)

ISOTROPIC, QUADRATIC, ROWS, LOGISTIC, SOFTMAX = 0, 1, 2, 3, 4  # kinds of arrays
TILE = 32  # samples whose scores are held at once: they and their rows should stay in the fastest cache


@bare_inlined
def dot(b: Any, j: Any, y: Any, begin: Any) -> Any:
    """The inner product of row j of b with y from `begin` on."""
    total = zeros()
    for k in range(0, b.shape[1], 8):
        total = fused(loaded(b, (j, k)), loaded(y, (begin + k,)), total)
    return summed(total)


@bare_inlined
def scores(b: Any, j: Any, y: Any, classes: Any, out: Any, at: Any) -> None:
    """out[at + c] = the inner product of row j of b with row c of y, five at once so that b is read less often."""
    width = b.shape[1]
    c = 0
    while c + 5 <= classes:
        s0, s1, s2, s3, s4 = zeros(), zeros(), zeros(), zeros(), zeros()
        first = c * width
        for k in range(0, width, 8):
            row = loaded(b, (j, k))
            s0 = fused(row, loaded(y, (first + k,)), s0)
            s1 = fused(row, loaded(y, (first + width + k,)), s1)
            s2 = fused(row, loaded(y, (first + 2 * width + k,)), s2)
            s3 = fused(row, loaded(y, (first + 3 * width + k,)), s3)
            s4 = fused(row, loaded(y, (first + 4 * width + k,)), s4)
        out[at + c], out[at + c + 1], out[at + c + 2] = summed(s0), summed(s1), summed(s2)
        out[at + c + 3], out[at + c + 4] = summed(s3), summed(s4)
        c += 5
    while c < classes:
        out[at + c] = dot(b, j, y, c * width)
        c += 1


@bare_inlined
def begun_sum(fresh: Any, ridge: Any, y: Any, g: Any, at: Any) -> Any:
    """What a sum of g starts from: ridge y, or what it has come to."""
    return times(spread(ridge), loaded(y, (at,))) if fresh else loaded(g, (at,))


@bare_inlined
def combine(
    b: Any, samples: Any, at: Any, count: Any, residual: Any, classes: Any, fresh: Any, ridge: Any, y: Any, g: Any
) -> None:  # fmt: skip
    """Row c of g = ridge y (`fresh`), or its own value, + the sum of residual[t classes + c] rows samples[at + t]."""
    width = b.shape[1]
    c = 0
    while c + 5 <= classes:
        for k in range(0, width, 8):
            first = c * width + k
            s0, s1 = begun_sum(fresh, ridge, y, g, first), begun_sum(fresh, ridge, y, g, first + width)
            s2 = begun_sum(fresh, ridge, y, g, first + 2 * width)
            s3 = begun_sum(fresh, ridge, y, g, first + 3 * width)
            s4 = begun_sum(fresh, ridge, y, g, first + 4 * width)
            for t in range(count):
                row, r = loaded(b, (np.int64(samples[at + t]), k)), t * classes + c
                s0 = fused(spread(residual[r]), row, s0)
                s1 = fused(spread(residual[r + 1]), row, s1)
                s2 = fused(spread(residual[r + 2]), row, s2)
                s3 = fused(spread(residual[r + 3]), row, s3)
                s4 = fused(spread(residual[r + 4]), row, s4)
            stored(g, (first,), s0)
            stored(g, (first + width,), s1)
            stored(g, (first + 2 * width,), s2)
            stored(g, (first + 3 * width,), s3)
            stored(g, (first + 4 * width,), s4)
        c += 5
    while c < classes:
        for k in range(0, width, 8):
            total = begun_sum(fresh, ridge, y, g, c * width + k)
            for t in range(count):
                r = spread(residual[t * classes + c])
                total = fused(r, loaded(b, (np.int64(samples[at + t]), k)), total)
            stored(g, (c * width + k,), total)
        c += 1


@bare_inlined
def softmax(score: Any, classes: Any, target: Any, samples: Any, at: Any, count: Any, weight: Any) -> None:
    """Turn the scores of samples into the derivatives of their cross entropy, times `weight`."""
    for t in range(count):
        begin = t * classes
        top = score[begin]
        for c in range(1, classes):
            top = max(top, score[begin + c])
        for c in range(classes):
            score[begin + c] -= top
    exponentials(score, count * classes)
    for t in range(count):
        begin = t * classes
        total = 0.0
        for c in range(classes):
            total += score[begin + c]
        share = weight / total
        for c in range(classes):
            score[begin + c] *= share
        score[begin + np.int64(target[samples[at + t]])] -= weight


@bare_inlined
def mean_gradient(
    kind: Any, classes: Any, ridge: Any, b: Any, target: Any, curvature: Any, columns: Any,
    y: Any, samples: Any, at: Any, count: Any, residual: Any, g: Any,
) -> None:  # fmt: skip
    """g = the mean gradient of components samples[at], ..., samples[at + count - 1] at y.

    residual (classes TILE + 8,): room to work.
    """
    width = b.shape[1]
    weight = 1.0 / count
    if kind in (SOFTMAX, LOGISTIC, ROWS):
        for first in range(at, at + count, TILE):
            tile = min(TILE, at + count - first)
            for t in range(tile):
                scores(b, np.int64(samples[first + t]), y, classes, residual, t * classes)
            if kind == SOFTMAX:
                softmax(residual, classes, target, samples, first, tile, weight)
            elif kind == LOGISTIC:
                for t in range(tile):
                    label = target[samples[first + t]]
                    residual[t] = -label / (1.0 + math.exp(label * residual[t])) * weight
            else:
                for t in range(tile):
                    j = samples[first + t]
                    residual[t] = curvature[j] * (residual[t] - target[j]) * weight
            combine(b, samples, first, tile, residual, classes, first == at, ridge, y, g)
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


@bare_inlined
def estimate_gradient(
    oracle: Any, x: Any, rows: Any, begins: Any, sizes: Any, voices: Any, count: Any, every: Any, residual: Any,
    slopes: Any, estimate: Any,
) -> None:  # fmt: skip
    """slopes[j] = the gradient at x of each of `count` clients; estimate = their mean with weights `voices`."""
    estimate[:] = 0.0
    total = 0.0
    for j in range(count):
        full_gradient(oracle, x, rows[j], begins[j], sizes[j], every, residual, slopes[j])
        added(estimate, voices[j], slopes[j], 0.0, x)
        total += voices[j]
    for i in range(len(estimate)):
        estimate[i] /= total
