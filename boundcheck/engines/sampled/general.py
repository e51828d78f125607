"""The general compiled path's steps: `execute` carries out a stretch of a plan for any visits and any flat arrays.

Rows of data are padded with zeros to a multiple of 8 entries, and points likewise (see `lanes`), so that inner products
and sums over a batch run in 8 lanes without a remainder. The order of operations is fixed and no operation mixes seeds:
a seed's numbers do not depend on which others run.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boundcheck.engines.sampled.jit import bare, bare_inlined, stamp
from boundcheck.engines.sampled.lanes import (
    added,
    blended,
    clipped,
    copied,
    exponentials,
    fused,
    loaded,
    minus,
    moved,
    plus,
    read,
    shifted,
    spread,
    stored,
    summed,
    times,
    write,
    zeros,
)

ISOTROPIC, QUADRATIC, ROWS, LOGISTIC, SOFTMAX = 0, 1, 2, 3, 4  # kinds of arrays
NONE, REDUCED, PRACTICAL = 0, 1, 2  # kinds of momentum
OWN, PIPELINED = 1, 2  # kinds of correction: by the gradients of this round, or of the one before
STALE, BLOCKS = 1, 2  # kinds of exchange
TILE = 32  # samples whose scores are held at once: they and their rows should stay in the fastest cache
VECTORS = 13  # points that `execute` works with


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


@bare_inlined
def mean_model(models: Any, portions: Any, row: Any) -> None:
    """row = the weighted mean of models[1:]."""
    for k in range(len(row)):
        row[k] = portions[0] * models[1, k]
    for i in range(1, len(portions)):
        for k in range(len(row)):
            row[k] += portions[i] * models[1 + i, k]


def _make_full_gradients(version: int) -> Any:
    def full_gradients(
        oracle: Any, x: Any, row: Any, begin: Any, size: Any, every: Any, work: Any, residual: Any, out: Any
    ) -> None:
        """The gradient of such a client at each row of x (S, d), to out (S, d). work, residual: see `execute`."""
        _, classes = version, oracle[1]
        for s in range(len(x)):
            read(x[s], work[0], classes)
            full_gradient(oracle, work[0], row, begin, size, every, residual, work[1])
            write(work[1], out[s], classes)

    return full_gradients


def _make_execute(version: int) -> Any:
    def execute(
        oracle: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any, points: Any, starts: Any,
        returned: Any, plan: Any, tables: Any, common: Any, full: Any, batch: Any, eta: Any, momentum: Any,
        correction: Any, exchange: Any, room: Any,
    ) -> None:  # fmt: skip
        """Carry out rounds first..first+rounds-1 of every seed from state (S, parts, d), updated in place.

        points (S, G, d) receives the server's point after stops[g] rounds; `stop` is the first g with stops[g] > first.
        starts (S, epochs, d): the points before each epoch, and returned (S, m, d): what the members of the cohort
        return, or (0, 0, 0) where nobody asks.
        plan: counts (S, rounds), the members of the cohorts; entry, often, place (S, rounds, m): each member's row in
        the tables, how often it was drawn, and where its samples begin in `sequence`; every: all samples.
        tables: clients, rows (of the clients' matrices), begins, ..., prox, one entry a visit. eta: (rounds,).
        common: whether coefficients are multiplied by a factor of their cohort, 1 over the sum of its entries of
        `weight`, times count_all over its size if that is not 0.
        momentum: NONE, REDUCED or PRACTICAL, with a = fresh and 1 - a = keep, rho of the local one, or 0, the
            weight decay of local steps, or 0, and the largest norm of their gradients, or infinity.
        correction: NONE, OWN or PIPELINED, with c_t (rounds,) and the clients whose gradients it takes: how many
        (S, rounds), their numbers, rows, first components, sizes and weights (S, rounds, m').
        exchange: NONE, STALE or BLOCKS, with the models' weights, the coordinates that are averaged after round q:
        coordinates[cuts[q]] to coordinates[cuts[q + 1]], their numbers in a row.
        room: work (VECTORS, padded), slopes (m', padded) and residual (see `mean_gradient`), to work in.
        """
        kind, classes, ridge, b, target, curvature, columns = oracle[:7]
        counts, entry, often, place, sequence, every = plan
        clients, rows, begins, sizes, steps, scale, factor, share, weight, prox = tables
        shared, count_all = common
        moving, fresh, keep, rho, decay, clip = momentum
        correcting, by, asked, ask_client, ask_row, ask_begin, ask_size, ask_voice = correction
        exchanging, portions, cuts, coordinates = exchange
        work, slopes, residual = room
        _ = version
        x, y, g, anchor, after, m = work[0], work[1], work[2], work[3], work[4], work[5]
        before, direction, begun, estimate, shift, last = work[6], work[7], work[8], work[9], work[10], work[11]
        buffer = work[12]
        for s in range(len(state)):
            read(state[s, 0], x, classes)
            if moving != NONE:
                read(state[s, 1], m, classes)
                read(state[s, 2], before, classes)
            if correcting == PIPELINED:
                read(state[s, 1], last, classes)
            next_stop = stop
            for q in range(rounds):
                factor_of_all = 1.0
                if shared and counts[s, q] > 0:
                    total, size_of_all = 0.0, 0.0
                    for p in range(counts[s, q]):
                        total += weight[entry[s, q, p]] * often[s, q, p]
                        size_of_all += often[s, q, p]
                    factor_of_all = (count_all / size_of_all if count_all > 0 else 1.0) / total
                if moving == REDUCED and first + q > 0:
                    blended(m, keep, 0.0, x)
                    for p in range(counts[s, q]):
                        e = entry[s, q, p]
                        full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, g)
                        full_gradient(oracle, before, rows[e], begins[e], sizes[e], every, residual, anchor)
                        added(m, share[e], g, keep, anchor)
                shift[:] = 0.0
                known = 0
                if correcting == PIPELINED or (correcting == OWN and by[q] != 0.0):
                    known = asked[s, q]
                    estimate_gradient(
                        oracle, x, ask_row[s, q], ask_begin[s, q], ask_size[s, q], ask_voice[s, q], known, every,
                        residual, slopes, anchor,
                    )  # fmt: skip
                    copied(estimate, last if correcting == PIPELINED else anchor)
                    copied(last, anchor)
                copied(after, x)
                direction[:] = 0.0
                for p in range(counts[s, q]):
                    e = entry[s, q, p]
                    rate = eta[q] * scale[e]
                    at = place[s, q, p]
                    left = sizes[e]
                    epoch = 0
                    if exchanging == NONE:
                        copied(begun, x)
                    else:
                        read(state[s, 1 + (clients[e] if exchanging == STALE else p)], begun, classes)
                    if correcting != NONE and by[q] != 0.0:
                        found = 0
                        while found < known and ask_client[s, q, found] != clients[e]:
                            found += 1
                        if found == known:
                            full_gradient(oracle, begun, rows[e], begins[e], sizes[e], every, residual, g)
                        else:
                            copied(g, slopes[found])
                        copied(shift, estimate)
                        added(shift, -1.0, g, 0.0, x)
                        blended(shift, by[q], 0.0, x)
                    bent = prox[e] != 0.0 or (correcting != NONE and by[q] != 0.0)
                    copied(y, begun)
                    if rho != 0.0:
                        buffer[:] = 0.0
                        if exchanging == BLOCKS:
                            read(state[s, 1 + len(portions) + p], buffer, classes)
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
                        if clip < np.inf:
                            clipped(g, clip)
                        if decay != 0.0:
                            blended(g, 1.0, decay, y)
                        if moving == REDUCED:
                            if full:
                                full_gradient(oracle, x, rows[e], begins[e], sizes[e], every, residual, anchor)
                            else:
                                mean_gradient(
                                    kind, classes, ridge, b, target, curvature, columns, x, sequence, at, count,
                                    residual, anchor,
                                )  # fmt: skip
                            added(g, keep, m, 1.0, anchor)
                        elif moving == PRACTICAL:
                            blended(g, fresh, keep, m)
                        if rho != 0.0:
                            if bent:
                                added(g, 1.0, shift, 0.0, y)
                                added(g, prox[e], y, 1.0, begun)
                            blended(buffer, rho, 1.0, g)
                            moved(y, -rate, buffer)
                        elif bent:
                            shifted(y, rate, g, shift, prox[e], begun)
                        else:
                            moved(y, -rate, g)
                        at += count
                        left -= count
                        if left == 0:
                            left = sizes[e]
                    if len(returned):
                        write(y, returned[s, p], classes)
                    if exchanging == BLOCKS:
                        write(y, state[s, 1 + p], classes)
                        if rho != 0.0:
                            write(buffer, state[s, 1 + len(portions) + p], classes)
                    else:
                        added(after, factor[e] * factor_of_all * often[s, q, p], y, 1.0, begun)
                    if moving == PRACTICAL and steps[e] > 0:
                        added(direction, share[e] / (steps[e] * rate), x, 1.0, y)
                if moving == PRACTICAL:
                    blended(m, keep, fresh, direction)
                copied(before, x)
                copied(x, after)
                if exchanging == STALE:
                    for p in range(counts[s, q]):
                        write(x, state[s, 1 + clients[entry[s, q, p]]], classes)
                for i in range(cuts[q], cuts[q + 1]):
                    k = coordinates[i]
                    mean = portions[0] * state[s, 1, k]
                    for own in range(1, len(portions)):
                        mean += portions[own] * state[s, 1 + own, k]
                    for own in range(len(portions)):
                        state[s, 1 + own, k] = mean
                if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                    if exchanging == BLOCKS:
                        mean_model(state[s], portions, points[s, next_stop])
                    else:
                        write(x, points[s, next_stop], classes)
                    next_stop += 1
            if exchanging == BLOCKS:
                mean_model(state[s], portions, state[s, 0])
            else:
                write(x, state[s, 0], classes)
            if moving != NONE:
                write(m, state[s, 1], classes)
                write(before, state[s, 2], classes)
            if correcting == PIPELINED:
                write(last, state[s, 1], classes)

    return execute


VERSION = stamp("lanes.py")
full_gradients = bare(_make_full_gradients(VERSION))
execute = bare(_make_execute(VERSION))
