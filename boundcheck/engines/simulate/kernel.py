"""The compiled kernel: carries out programs (`coefficients`) on the gradients of flat arrays, seed after seed.

It knows no method. The order of operations is that of the programs and no operation mixes seeds: a seed's numbers do
not depend on which others run. Inner products may be summed in any order, which is fixed once the code is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

ISOTROPIC, QUADRATIC, ROWS, LOGISTIC, SOFTMAX = 0, 1, 2, 3, 4  # kinds of arrays
TILE = 32  # samples whose scores are held at once: they and their rows should stay in the fastest cache
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Code that makes no arrays may do without counting references to them: an atomic operation for each is dear.
BARE: dict[str, Any] = OPTIONS | {"_nrt": False, "fastmath": {"reassoc", "contract", "nsz"}}
INLINED: dict[str, Any] = {"forceinline": True, "no_cpython_wrapper": True}


def jit(function: Any, options: Mapping[str, Any] = OPTIONS) -> Any:
    """Compile without the interpreter lock, cached on disk where a place for the cache can be written."""
    own: dict[str, Any] = dict(options)
    try:
        return numba.njit(cache=True, **own)(function)
    except RuntimeError:  # numba found no writable place
        return numba.njit(**own)(function)


def inlined(function: Any, options: Mapping[str, Any] = OPTIONS) -> Any:
    """Compile as a part of each function that calls it."""
    own: dict[str, Any] = {**INLINED, **options}
    return numba.njit(**own)(function)


def _part(function: Any) -> Any:
    return inlined(function, BARE)


def _once(function: Any) -> Any:
    """Put the function's text where it is called, one place alone, so that it is compiled once."""
    own: dict[str, Any] = {"inline": "always", **BARE}
    return numba.njit(**own)(function)


@_part
def _scores(b: Any, j: Any, y: Any, classes: Any, out: Any, at: Any) -> None:
    """out[at + c] = the inner product of row j of b with row c of y."""
    width = b.shape[1]
    for c in range(classes):
        total = 0.0
        first = c * width
        for k in range(width):
            total += b[j, k] * y[first + k]
        out[at + c] = total


@_part
def _softmax(score: Any, classes: Any, label: Any, at: Any, weight: Any) -> None:
    """Turn the scores of a sample into the derivatives of its cross entropy, times `weight`."""
    top = score[at]
    for c in range(1, classes):
        top = max(top, score[at + c])
    total = 0.0
    for c in range(classes):
        score[at + c] = math.exp(score[at + c] - top)
        total += score[at + c]
    share = weight / total
    for c in range(classes):
        score[at + c] *= share
    score[at + label] -= weight


@_once
def _mean_gradient(data: Any, y: Any, samples: Any, at: Any, count: Any, residual: Any, g: Any) -> None:
    """g = the mean gradient of components samples[at], ..., samples[at + count - 1] at y; residual: room to work."""
    kind, classes, ridge, b, target, curvature, A, _, _, _ = data
    width = b.shape[1]
    weight = 1.0 / count
    if kind == ISOTROPIC and count == 1:
        j = samples[at]
        scale = curvature[j] + ridge
        for k in range(width):
            g[k] = scale * y[k] - b[j, k]
    elif kind == ISOTROPIC:
        for k in range(width):
            total = 0.0
            for t in range(count):
                j = samples[at + t]
                total += curvature[j] * y[k] - b[j, k]
            g[k] = weight * total + ridge * y[k]
    elif kind == QUADRATIC:
        for i in range(width):
            total = 0.0
            for t in range(count):
                j = samples[at + t]
                for k in range(width):
                    total += A[j, i, k] * y[k]
                total -= b[j, i]
            g[i] = weight * total + ridge * y[i]
    else:
        for k in range(len(g)):
            g[k] = ridge * y[k]
        for first in range(at, at + count, TILE):
            tile = min(TILE, at + count - first)
            for t in range(tile):
                j = samples[first + t]
                _scores(b, j, y, classes, residual, t * classes)
                if kind == SOFTMAX:
                    _softmax(residual, classes, np.int64(target[j]), t * classes, weight)
                elif kind == LOGISTIC:
                    residual[t] = -target[j] / (1.0 + math.exp(target[j] * residual[t])) * weight
                else:
                    residual[t] = curvature[j] * (residual[t] - target[j]) * weight
            for t in range(tile):
                j = samples[first + t]
                for c in range(classes):
                    r = residual[t * classes + c]
                    start = c * width
                    for k in range(width):
                        g[start + k] += r * b[j, k]


@_part
def _whole_gradient(client_A: Any, client_b: Any, y: Any, row: Any, g: Any) -> None:
    """g = the gradient at y of the client of row `row` of the clients' matrices."""
    for i in range(client_A.shape[1]):
        found = 0.0
        for k in range(client_A.shape[2]):
            found += client_A[row, i, k] * y[k]
        g[i] = found - client_b[row, i]


@_part
def _combine(
    to: Any, register: Any, terms: Any, coefficients: Any, first: Any, count: Any, shift: Any, room: Any
) -> None:
    """Register `to` = the linear combination of terms first, ..., first + count - 1."""
    d = register.shape[1]
    if count == 1:
        a, i = coefficients[shift + first], terms[first]
        for k in range(d):
            register[to, k] = a * register[i, k]
    elif count == 2:
        a, i = coefficients[shift + first], terms[first]
        b, j = coefficients[shift + first + 1], terms[first + 1]
        if i == to:  # said apart, so that the compiler need not ask whether rows overlap
            for k in range(d):
                register[to, k] = a * register[to, k] + b * register[j, k]
        else:
            for k in range(d):
                register[to, k] = a * register[i, k] + b * register[j, k]
    else:
        for k in range(d):
            room[k] = 0.0
        for t in range(first, first + count):
            a, i = coefficients[shift + t], terms[t]
            for k in range(d):
                room[k] += a * register[i, k]
        for k in range(d):
            register[to, k] = room[k]


@_once
def _execute(
    code: Any, first: Any, count: Any, times: Any, alone: Any, terms: Any, coefficients: Any, shift: Any, masks: Any,
    register: Any, data: Any, full: Any, sequence: Any, at: Any, batch: Any, row: Any, begin: Any, size: Any,
    every: Any, residual: Any, room: Any, starts: Any, s: Any, y: Any,
) -> None:  # fmt: skip
    """Carry out instructions first, ..., first + count - 1 this many times; see `coefficients.Program` and `_carry`.

    With `alone` the further times are those that follow. Each time takes the next samples, from sequence[at] on. y: the
    register of the points that `starts` notes.
    """
    total, client_A, client_b = data[7], data[8], data[9]
    left = size
    epoch = 0
    begun = first
    for _ in range(times):
        if len(starts) and (full or left == size):
            for k in range(register.shape[1]):
                starts[s, epoch, k] = register[y, k]
            epoch += 1
        width = min(batch, left)
        for i in range(begun, begun + count):
            op, to, a, n = code[i, 0], code[i, 1], code[i, 2], code[i, 3]
            if op == 0:
                _combine(to, register, terms, coefficients, a, n, shift, room)
            elif op == 3:
                for k in range(register.shape[1]):
                    register[to, k] = register[a, k] if masks[n, k] != 0.0 else 0.0
            else:
                whole = full or op == 2
                if whole and len(client_A) > 0:
                    _whole_gradient(client_A, client_b, register[a], row, register[to])
                else:
                    samples = every if whole else sequence
                    where = begin if whole else at
                    taken = size if whole else width
                    _mean_gradient(data, register[a], samples, where, taken, residual, register[to])
                    if whole and total:
                        for k in range(register.shape[1]):
                            register[to, k] *= size
        if alone:
            begun += count
        at += width
        left -= width
        if left == 0:
            left = size


def _carry(
    data: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any, points: Any, starts: Any, returned: Any,
    plan: Any, asked: Any, tables: Any, program: Any, places: Any, room: Any,
) -> None:  # fmt: skip
    """Carry out rounds first..first+rounds-1 of every seed from state (S, parts, d), updated in place.

    points (S, G, d) receives the server's point after stops[g] rounds; `stop` is the first g with stops[g] > first.
    starts (S, epochs, d): the points before each epoch, and returned (S, m, d): what the members of the cohort return,
    or (0, 0, 0) where nobody asks.
    plan: counts (S, rounds), the members of the cohorts; entry, slot, place (S, rounds, m): each member's row in the
    tables, which client's vectors are its, and where its samples begin in `sequence`; weight (S, rounds, m, sums);
    batch, full. asked: the same of those who collect, counts, entry, slot, weight; whether they and their numbers never
    change, so that they stand there once, and the server's vectors on which the sums rest: while these are the same,
    nothing is collected again.
    tables: classes, rows (of the clients' matrices), begins, sizes, steps, one entry a visit.
    program: code, terms, bounds, coefficients; group (S, rounds) and shift (S, rounds): which program a round is, and
    where its coefficients begin; whether each local step has its own instructions, whether members receive; masks;
    every: all samples.
    places: how many vectors the server, the client keep, local ones, sums, collected ones, registers.
    room: registers, residual, a vector, and what the server kept when it was collected last.
    """
    counts, entry, slot, place, weight, sequence, batch, full = plan
    ask_counts, ask_entry, ask_slot, ask_weight, steady, rests = asked
    classes, rows, begins, sizes, steps = tables
    code, terms, bounds, coefficients, group, shift, alone, receives, masks, every = program
    nothing = starts[:0]
    server, client, local, sums, collected = places
    register, residual, spare, seen = room
    d = register.shape[1]
    y0 = server + client
    total0 = y0 + local
    collected0 = total0 + sums
    sent0 = collected0 + collected
    kept0 = sent0 + max(sums, collected)
    for s in range(len(state)):
        for j in range(server):
            for k in range(d):
                register[j, k] = state[s, j, k]
        known = False
        next_stop = stop
        for q in range(rounds):
            g, c0 = group[s, q], shift[s, q]
            again = collected > 0
            if again and steady and known:
                again = False
                for j in rests:
                    for k in range(d):
                        if seen[j, k] != register[j, k]:
                            again = True
            asks = 0
            s0, q0 = (0, 0) if steady else (s, q)
            if again:
                asks = ask_counts[s0, q0]
                known = True
                for j in range(collected):
                    for k in range(d):
                        register[collected0 + j, k] = 0.0
                for j in range(server):
                    for k in range(d):
                        seen[j, k] = register[j, k]
            for j in range(sums):
                for k in range(d):
                    register[total0 + j, k] = 0.0
            # One place for all that is carried out, which the compiler puts here: what members collect, their visits,
            # what the server does, and what members receive.
            m = counts[s, q]
            for i in range(asks + m + 1 + (m if receives else 0)):
                asking, visiting, serving = i < asks, asks <= i < asks + m, i == asks + m
                p = i if asking else i - asks if visiting else 0 if serving else i - asks - m - 1
                e, v, own, at, row, begin, size = 0, 0, 0, 0, 0, 0, 1
                if not serving:
                    e = ask_entry[s0, q0, p] if asking else entry[s, q, p]
                    v, row, begin, size = classes[e], rows[e], begins[e], sizes[e]
                    own = server + (ask_slot[s0, q0, p] if asking else slot[s, q, p]) * client
                    for j in range(client):
                        for k in range(d):
                            register[server + j, k] = state[s, own + j, k]
                if visiting:
                    at = place[s, q, p]
                opening = 0 if asking else 1 if visiting else 5 if serving else 4
                for phase in range(opening, 4 if visiting else opening + 1):
                    stepping = phase == 2
                    _execute(
                        code, bounds[g, v, phase, 0], bounds[g, v, phase, 1], steps[e] if stepping else 1,
                        alone and stepping, terms, coefficients, c0, masks, register, data, full, sequence, at, batch,
                        row, begin, size, every, residual, spare, starts if stepping else nothing, s, y0,
                    )  # fmt: skip
                    if stepping and len(returned):
                        for k in range(d):
                            returned[s, p, k] = register[y0, k]
                if asking:
                    for j in range(collected):
                        w = ask_weight[s0, q0, p, j]
                        for k in range(d):
                            register[collected0 + j, k] += w * register[sent0 + j, k]
                elif visiting:
                    for j in range(sums):
                        w = weight[s, q, p, j]
                        for k in range(d):
                            register[total0 + j, k] += w * register[sent0 + j, k]
                if not asking and not serving:
                    for j in range(client):
                        for k in range(d):
                            state[s, own + j, k] = register[kept0 + j, k]
            if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                for k in range(d):
                    points[s, next_stop, k] = register[0, k]
                next_stop += 1
        for j in range(server):
            for k in range(d):
                state[s, j, k] = register[j, k]


carry = jit(_carry, BARE)
