"""The compiled path's machine code: `draw` produces a stretch of the plan, `execute` carries it out.

`draw` serves every problem. `execute` is specialised through argument types: `zero` is a tuple whose length is
the dimension (the point then lives in registers and loops over coordinates unroll), or an array for dimensions
too large for that; `kind` is a tuple whose length is one of the oracles below; `single` has length 1 when steps
use one sample, else 0. A length is a constant to the compiler, and branches on it disappear. No fast-math flag
is set: operations happen in the order written, which is the order of the NumPy path.
All compiled functions live in this one file, because numba's cache notices changes of a function's own file only.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import overload

__all__ = ["DENSE", "ISOTROPIC", "MATRIX", "ROWS", "SCALAR", "draw", "execute"]

# Lengths of `kind`: full gradients of clients (SCALAR: a multiple of the identity), or reshuffled components.
SCALAR, DENSE, ISOTROPIC, MATRIX, ROWS = 1, 2, 3, 4, 5

LANES = 32  # generator blocks that the compiler may put side by side
REQUESTS = 512  # generator blocks produced at once, more only where a single round needs them
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
COHORT, ORDER = np.uint64(0), np.uint64(1)


with_entry: Any = tuple_setitem


def _jit(function: Any, **options: Any) -> Any:
    """Compile without the interpreter lock, cached on disk where a place for the cache can be written."""
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no writable place
        return numba.njit(**options)(function)


def _philox_round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    p0 = M0 * c0
    p1 = M1 * c2
    return (p1 >> HALF) ^ c1 ^ k0, p1 & MASK, (p0 >> HALF) ^ c3 ^ k1, p0 & MASK


philox_round = _jit(_philox_round, forceinline=True)


def _generate(seed: Any, count: Any, block: Any, round_index: Any, client: Any, purpose: Any, word: Any) -> None:
    """Words 2i and 2i + 1 from the counter (block[i], round_index[i], client[i], purpose), i < count."""
    k0 = seed & MASK
    k1 = seed >> HALF
    # whole vectors only: the buffers have room for them, and a remainder would be generated one by one
    for i in range((count + LANES - 1) // LANES * LANES):
        c0, c1, c2, c3 = np.uint64(block[i]), np.uint64(round_index[i]), np.uint64(client[i]), purpose
        a, b = k0, k1
        for _ in range(10):
            c0, c1, c2, c3 = philox_round(c0, c1, c2, c3, a, b)
            a = (a + W0) & MASK
            b = (b + W1) & MASK
        word[2 * i] = (c0 << HALF) | c1
        word[2 * i + 1] = (c2 << HALF) | c3


generate = _jit(_generate)


def _below(word: Any, bound: Any) -> Any:
    k = np.uint64(bound)
    return ((word >> HALF) * k + (((word & MASK) * k) >> HALF)) >> HALF


below = _jit(_below, forceinline=True)


def _request(block: Any, round_index: Any, client: Any, at: Any, count: Any, r: Any, c: Any) -> Any:
    """Ask for `count` blocks of one stream from position `at` on; returns the position after them."""
    for i in range(count):
        block[at + i] = i
        round_index[at + i] = r
        client[at + i] = c
    return at + count


request = _jit(_request, forceinline=True)


def _exchange(places: Any, t: Any, word: Any, size: Any) -> Any:
    """The swap of step t on places of four bits in one word: no load has to wait for a store."""
    i = np.uint64(4 * t)
    j = i + np.uint64(4) * below(word, size - t)
    change = ((places >> i) ^ (places >> j)) & np.uint64(15)
    return places ^ (change << i) ^ (change << j)


exchange = _jit(_exchange, forceinline=True)


def _shuffle(order: Any, to: Any, size: Any, start: Any, word: Any, w: Any) -> None:
    """A uniformly random order of start, ..., start + size - 1 to order[to] on, from word[w] on."""
    # unsigned numbers throughout: numba then checks no index for being counted from the end
    first, base, v = np.uint64(start), np.uint64(to), np.uint64(w)
    one, low = np.uint64(1), np.uint64(15)
    if size < 4:  # the same, without loops
        if size == 1:
            order[base] = first
        elif size == 2:
            j = below(word[v], 2)
            order[base] = first + j
            order[base + one] = first + (j ^ one)
        else:
            places = exchange(exchange(np.uint64(0x210), 0, word[v], 3), 1, word[v + one], 3)
            order[base] = first + (places & low)
            order[base + one] = first + ((places >> np.uint64(4)) & low)
            order[base + one + one] = first + (places >> np.uint64(8))
        return
    n, t = np.uint64(size), np.uint64(0)
    while t < n:
        order[base + t] = first + t
        t += one
    t = np.uint64(0)
    while t + one < n:
        i = base + t
        j = i + below(word[v + t], n - t)
        held = order[i]
        order[i] = order[j]
        order[j] = held
        t += one


shuffle = _jit(_shuffle, forceinline=True)


def _draw(
    seeds: Any, first: Any, rounds: Any, offsets: Any, fixed: Any, drawn: Any, reshuffled: Any, repeats: Any,
    cohort: Any, sequence: Any, width: Any,
) -> None:  # fmt: skip
    """The plan of rounds first..first+rounds-1 of every seed.

    cohort (S, rounds, m) is filled when cohorts are drawn (`drawn`); otherwise fixed (P, m) says who takes part.
    sequence (S, rounds * width) receives the components that the visits of a seed step through, one visit after the
    other; each round starts at a multiple of `width`.
    """
    n = len(offsets) - 1
    m = cohort.shape[2] if drawn else fixed.shape[1]
    period = len(fixed)
    blocks = np.zeros(n, np.int64)  # generator blocks of each client's visit
    if reshuffled:
        for c in range(n):
            blocks[c] = (repeats * (offsets[c + 1] - offsets[c] - 1) + 1) // 2
    a_round = min(m * blocks.max(), blocks.sum())
    draws = min(m, n - 1)
    if drawn:
        a_round = max(a_round, (draws + 1) // 2)
    chunk = max(1, min(REQUESTS // max(1, a_round), rounds))
    room = chunk * a_round + LANES
    block = np.zeros(room, np.uint32)
    round_index = np.zeros(room, np.uint32)
    client = np.zeros(room, np.uint32)
    word = np.empty(2 * room, np.uint64)
    identity = np.arange(n if drawn else 0)
    swapped = np.empty(m, np.int64)

    for s in range(len(seeds)):
        order = sequence[s]
        for begin in range(0, rounds, chunk):
            count = min(chunk, rounds - begin)
            if drawn:
                at = 0
                for q in range(count):
                    at = request(block, round_index, client, at, (draws + 1) // 2, first + begin + q, 0)
                generate(seeds[s], at, block, round_index, client, COHORT, word)
                for q in range(count):
                    w = 2 * ((draws + 1) // 2) * q
                    for t in range(draws):
                        j = np.int64(np.uint64(t) + below(word[w + t], n - t))
                        swapped[t] = j
                        identity[t], identity[j] = identity[j], identity[t]
                    for p in range(m):
                        cohort[s, begin + q, p] = identity[p]
                    for t in range(draws - 1, -1, -1):  # back to 0..n-1 in as many steps
                        j = swapped[t]
                        identity[t], identity[j] = identity[j], identity[t]
            if reshuffled:
                at = 0
                row = (first + begin) % max(1, period)
                for q in range(count):
                    for p in range(m):
                        c = cohort[s, begin + q, p] if drawn else fixed[row, p]
                        at = request(block, round_index, client, at, blocks[c], first + begin + q, c)
                    row = row + 1 if row + 1 < period else 0
                generate(seeds[s], at, block, round_index, client, ORDER, word)
                w = 0
                row = (first + begin) % max(1, period)
                for q in range(count):
                    place = (begin + q) * width
                    for p in range(m):
                        c = cohort[s, begin + q, p] if drawn else fixed[row, p]
                        start = offsets[c]
                        size = offsets[c + 1] - start
                        for _ in range(repeats):
                            shuffle(order, place, size, start, word, w)
                            w += size - 1
                            place += size
                        w = (w + 1) & -2  # the next visit starts with a new block
                    row = row + 1 if row + 1 < period else 0


draw = _jit(_draw)


def fresh(zero: Any) -> Any:
    """A vector like `zero`: a tuple (small dimensions, kept in registers) or an array of its own."""
    return zero if isinstance(zero, tuple) else np.zeros_like(zero)


def put(vector: Any, k: Any, value: Any) -> Any:
    """The vector with entry k replaced; an array is changed in place."""
    raise TypeError("compiled code only")


def assigned(vector: Any, source: Any) -> Any:
    """The vector with the entries of `source`; an array is changed in place."""
    raise TypeError("compiled code only")


@overload(fresh, inline="always", strict=False)
def _fresh(zero: Any) -> Any:
    if isinstance(zero, types.BaseTuple):
        return lambda zero: zero
    return lambda zero: np.zeros_like(zero)


@overload(put, inline="always", strict=False)
def _put(vector: Any, k: Any, value: Any) -> Any:
    if isinstance(vector, types.BaseTuple):
        return lambda vector, k, value: with_entry(vector, k, value)

    def put_array(vector: Any, k: Any, value: Any) -> Any:
        vector[k] = value
        return vector

    return put_array


@overload(assigned, inline="always", strict=False)
def _assigned(vector: Any, source: Any) -> Any:
    if isinstance(vector, types.BaseTuple):
        return lambda vector, source: source

    def assigned_array(vector: Any, source: Any) -> Any:
        for k in range(len(vector)):
            vector[k] = source[k]
        return vector

    return assigned_array


def product(matrices: Any, j: Any, y: Any, g: Any) -> Any:
    """(matrix j) y, each sum over k in order; `matrices` holds rows for a tuple y and columns for an array."""
    raise TypeError("compiled code only")


@overload(product, inline="always", strict=False)
def _product(matrices: Any, j: Any, y: Any, g: Any) -> Any:
    def by_rows(matrices: Any, j: Any, y: Any, g: Any) -> Any:
        for i in range(len(y)):
            total = matrices[j, i, 0] * y[0]
            for k in range(1, len(y)):
                total += matrices[j, i, k] * y[k]
            g = put(g, i, total)
        return g

    def by_columns(matrices: Any, j: Any, y: Any, g: Any) -> Any:
        # entry by entry the same sums, but neighbours in memory go side by side
        for i in range(len(y)):
            g[i] = matrices[j, 0, i] * y[0]
        for k in range(1, len(y)):
            for i in range(len(y)):
                g[i] += matrices[j, k, i] * y[k]
        return g

    return by_rows if isinstance(y, types.BaseTuple) else by_columns


def _component(kind: Any, y: Any, g: Any, j: Any, curvature: Any, b: Any, target: Any, matrices: Any) -> Any:
    """Gradient of component j at y."""
    if len(kind) == ISOTROPIC:
        h = curvature[j]
        for k in range(len(y)):
            g = put(g, k, h * y[k] - b[j, k])
    elif len(kind) == ROWS:
        dot = b[j, 0] * y[0]
        for k in range(1, len(y)):
            dot += b[j, k] * y[k]
        residual = curvature[j] * (dot - target[j])
        for k in range(len(y)):
            g = put(g, k, residual * b[j, k])
    else:
        g = product(matrices, j, y, g)
        for k in range(len(y)):
            g = put(g, k, g[k] - b[j, k])
    return g


component = _jit(_component, forceinline=True)


def _execute(
    zero: Any, kind: Any, single: Any, state: Any, first: Any, rounds: Any, stop: Any, stops: Any, points: Any,
    drawn: Any, fixed: Any, cohort: Any, sequence: Any, width: Any, sizes: Any,
    coefficients: Any, steps: Any, rounds_per_cycle: Any, repeats: Any, batch: Any,
    curvature: Any, b: Any, target: Any, matrices: Any, client_matrices: Any, client_b: Any,
) -> None:  # fmt: skip
    """Carry out rounds first..first+rounds-1 of every seed from state (S, d), updated in place.

    points (S, G, d) receives the state after stops[g] rounds; `stop` is the first g with stops[g] > first.
    `matrices` (N, d, d) and `client_matrices` (n, d, d) belong to components and clients, as `product` wants them.
    """
    d = len(zero)
    m = coefficients.shape[1]
    period = len(coefficients)
    x = fresh(zero)
    y = fresh(zero)
    g = fresh(zero)
    more = fresh(zero)
    after = fresh(zero)
    for s in range(len(state)):
        for k in range(d):
            x = put(x, k, state[s, k])
        next_stop = stop
        row = first % period
        cycle = first // rounds_per_cycle
        left = (cycle + 1) * rounds_per_cycle - first  # rounds of this cycle still to run
        for q in range(rounds):
            eta = steps[cycle]
            at = q * width
            after = assigned(after, x)
            for p in range(m):
                c = cohort[s, q, p] if drawn else fixed[row, p]
                y = assigned(y, x)
                if len(kind) == SCALAR:
                    h = client_matrices[c, 0, 0]
                    for _ in range(repeats):
                        for k in range(d):
                            y = put(y, k, y[k] - eta * (h * y[k] - client_b[c, k]))
                elif len(kind) == DENSE:
                    for _ in range(repeats):
                        g = product(client_matrices, c, y, g)
                        for k in range(d):
                            y = put(y, k, y[k] - eta * (g[k] - client_b[c, k]))
                elif len(single) > 0:
                    end = at + repeats * sizes[c]
                    for i in range(at, end):
                        g = component(kind, y, g, sequence[s, i], curvature, b, target, matrices)
                        for k in range(d):
                            y = put(y, k, y[k] - eta * g[k])
                    at = end
                else:
                    for _ in range(repeats):
                        done = at + sizes[c]
                        while at < done:
                            end = min(at + batch, done)
                            g = component(kind, y, g, sequence[s, at], curvature, b, target, matrices)
                            for i in range(at + 1, end):
                                more = component(kind, y, more, sequence[s, i], curvature, b, target, matrices)
                                for k in range(d):
                                    g = put(g, k, g[k] + more[k])
                            for k in range(d):
                                y = put(y, k, y[k] - eta * (g[k] / (end - at)))
                            at = end
                weight = coefficients[row, p]
                for k in range(d):
                    after = put(after, k, after[k] + weight * (y[k] - x[k]))
            x = assigned(x, after)
            row = row + 1 if row + 1 < period else 0
            left -= 1
            if left == 0:
                cycle += 1
                left = rounds_per_cycle
            if next_stop < len(stops) and stops[next_stop] == first + q + 1:
                for k in range(d):
                    points[s, next_stop, k] = x[k]
                next_stop += 1
        for k in range(d):
            state[s, k] = x[k]


execute = _jit(_execute)
