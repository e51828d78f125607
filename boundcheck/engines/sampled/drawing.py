"""The compiled path's plan: the cohorts and sample orders of a stretch of rounds.

The random numbers are those of `core.streams`, generated block beside block so that the compiler can use vectors.
The visits of a stretch are sorted by how many samples they shuffle, so that all visits of one size run through the
same instructions; orders of few samples are looked up.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.engines.sampled.jit import inlined, jit

__all__ = ["ORDERS", "draw_cohorts", "draw_orders"]

LANES = 32  # generator blocks that the compiler may put side by side
REQUESTS = 1024  # generator blocks produced at once, more only where a single visit needs them
TABLE = 5  # shuffles of up to so many samples are looked up
NIBBLE = np.uint64(4)
LOW = np.uint64(15)
ONE = np.uint64(1)
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
COHORT, ORDER = np.uint64(0), np.uint64(1)


def _orders() -> NDArray[np.uint64]:
    """Results of the forward Fisher-Yates shuffle of 1 to TABLE numbers, four bits a number, first number lowest.

    Those of n numbers follow those of n - 1; the digits of an entry's index, most significant first, are the
    integers below n, n - 1, ..., 2 that the shuffle draws.
    """
    entries: list[int] = []
    for n in range(1, TABLE + 1):
        for digits in product(*(range(n - t) for t in range(n - 1))):
            places = list(range(n))
            for t, j in enumerate(digits):
                places[t], places[t + j] = places[t + j], places[t]
            entries.append(sum(v << (4 * t) for t, v in enumerate(places)))
    return np.array(entries, dtype=np.uint64)


ORDERS = _orders()


@inlined
def philox_round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    p0 = M0 * c0
    p1 = M1 * c2
    return (p1 >> HALF) ^ c1 ^ k0, p1 & MASK, (p0 >> HALF) ^ c3 ^ k1, p0 & MASK


@inlined
def below(word: Any, bound: Any) -> Any:
    k = np.uint64(bound)
    return ((word >> HALF) * k + (((word & MASK) * k) >> HALF)) >> HALF


def _generate(seed: Any, count: Any, block: Any, round_index: Any, client: Any, purpose: Any, word: Any) -> None:
    """The words (word[0, i], word[1, i]) of the counter (block[i], round_index[i], client[i], purpose), i < count."""
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
        word[0, i] = (c0 << HALF) | c1
        word[1, i] = (c2 << HALF) | c3


generate = jit(_generate)


def _digits(word: Any, count: Any, size: Any, first: Any, index: Any) -> None:
    """index[i] = the number of visit i's order in the table of orders, from its word number `first` on."""
    entry = 0
    factorial = 1
    for n in range(1, size):
        entry += factorial
        factorial *= n + 1
    start = np.uint64(entry)
    for i in range(count):
        index[i] = 0
    for t in range(size - 1):
        k = np.uint64(size - t)
        row = word[(first + t) & 1]
        base = (first + t) // 2 * count
        for i in range(count):
            index[i] = index[i] * k + below(row[base + i], k)
    for i in range(count):
        index[i] += start


digits = jit(_digits)


@inlined
def swaps(order: Any, to: Any, size: Any, start: Any, word: Any, count: Any, visit: Any, first: Any) -> None:
    """A random order of start, ..., start + size - 1 to order[to] on, from a visit's word number `first` on."""
    # unsigned numbers throughout: numba then checks no index for being counted from the end
    begin, base, n, t = np.uint64(start), np.uint64(to), np.uint64(size), np.uint64(0)
    while t < n:
        order[base + t] = begin + t
        t += ONE
    w, stride, t = np.uint64(first), np.uint64(count), np.uint64(0)
    while t + ONE < n:
        i = base + t
        j = i + below(word[w & ONE, (w >> ONE) * stride + np.uint64(visit)], n - t)
        held = order[i]
        order[i] = order[j]
        order[j] = held
        w += ONE
        t += ONE


def _sort_visits(
    clients: Any, row: Any, first: Any, rounds: Any, repeats: Any, sizes: Any, width: Any,
    rank: Any, begins: Any, round_index: Any, client: Any, place: Any,
) -> None:  # fmt: skip
    """The visits of a stretch, by rank of their size: round, client and where the order goes.

    clients: (P, m), the cohorts of P rounds that repeat, of which the stretch starts with row `row`.
    begins (ranks + 1,): the visits of rank k are begins[k], ..., begins[k + 1] - 1.
    """
    begins[:] = 0
    at = row
    for _ in range(rounds):
        for p in range(clients.shape[1]):
            c = clients[at, p]
            begins[rank[c] + 1] += 1
        at = at + 1 if at + 1 < len(clients) else 0
    for k in range(len(begins) - 1):
        begins[k + 1] += begins[k]
    at = row
    for q in range(rounds):
        to = q * width
        for p in range(clients.shape[1]):
            c = clients[at, p]
            i = begins[rank[c]]
            begins[rank[c]] = i + 1
            round_index[i] = first + q
            client[i] = c
            place[i] = to
            to += repeats * sizes[c]
        at = at + 1 if at + 1 < len(clients) else 0
    for k in range(len(begins) - 1, 0, -1):
        begins[k] = begins[k - 1]
    begins[0] = 0


sort_visits = jit(_sort_visits)


def _draw_cohorts(seeds: Any, first: Any, rounds: Any, n: Any, cohorts: Any) -> None:
    """The clients, out of n, of rounds first..first+rounds-1 of every seed, to cohorts (S, at least rounds, m)."""
    m = cohorts.shape[2]
    draws = min(m, n - 1)
    blocks = (draws + 1) // 2
    chunk = max(1, REQUESTS // max(1, blocks))
    room = max(REQUESTS, blocks) + LANES
    block = np.zeros(room, np.uint32)
    round_index = np.zeros(room, np.uint32)
    client = np.zeros(room, np.uint32)
    word = np.empty((2, room), np.uint64)
    identity = np.arange(n)
    swapped = np.empty(m, np.int64)
    for s in range(len(seeds)):
        for begin in range(0, rounds, chunk):
            count = min(chunk, rounds - begin)
            for b in range(blocks):
                for q in range(count):
                    block[b * count + q] = b
                    round_index[b * count + q] = first + begin + q
            generate(seeds[s], blocks * count, block, round_index, client, COHORT, word)
            for q in range(count):
                for t in range(draws):
                    j = np.int64(np.uint64(t) + below(word[t & 1, t // 2 * count + q], n - t))
                    swapped[t] = j
                    held = identity[t]
                    identity[t] = identity[j]
                    identity[j] = held
                for p in range(m):
                    cohorts[s, begin + q, p] = identity[p]
                for t in range(draws - 1, -1, -1):  # back to 0..n-1 in as many steps
                    j = swapped[t]
                    held = identity[t]
                    identity[t] = identity[j]
                    identity[j] = held


draw_cohorts = jit(_draw_cohorts)


def _draw_orders(
    seeds: Any, first: Any, rounds: Any, offsets: Any, sizes: Any, rank: Any, distinct: Any, orders: Any, repeats: Any,
    cohorts: Any, row: Any, sequence: Any, width: Any,
) -> None:  # fmt: skip
    """The components that every seed steps through in rounds first..first+rounds-1, to sequence (S, rounds * width).

    Visits follow one another in the order of the cohort, each round from a multiple of `width` on. Client c holds
    sizes[c] = distinct[rank[c]] samples, from offsets[c] on. cohorts: (S, P, m), or (1, P, m) for every seed the
    same; it repeats after P rounds, and the first round's is number `row`.
    """
    visits = rounds * cohorts.shape[2]
    begins = np.zeros(len(distinct) + 1, np.int64)
    round_index = np.empty(visits, np.uint32)
    client = np.empty(visits, np.uint32)
    place = np.empty(visits, np.int64)
    room = max(REQUESTS, (repeats * (distinct[-1] - 1) + 1) // 2) + LANES
    block = np.zeros(room, np.uint32)
    asked_round = np.zeros(room, np.uint32)
    asked_client = np.zeros(room, np.uint32)
    word = np.empty((2, room), np.uint64)
    index = np.empty(room, np.uint64)
    for s in range(len(seeds)):
        if s < len(cohorts):
            sort_visits(cohorts[s], row, first, rounds, repeats, sizes, width, rank, begins, round_index, client, place)
        order = sequence[s]
        for k in range(len(distinct)):
            size = distinct[k]
            blocks = (repeats * (size - 1) + 1) // 2
            chunk = max(1, REQUESTS // max(1, blocks))
            for begin in range(begins[k], begins[k + 1], chunk):
                count = min(chunk, begins[k + 1] - begin)
                for b in range(blocks):
                    for i in range(count):
                        block[b * count + i] = b
                        asked_round[b * count + i] = round_index[begin + i]
                        asked_client[b * count + i] = client[begin + i]
                generate(seeds[s], blocks * count, block, asked_round, asked_client, ORDER, word)
                for epoch in range(repeats):
                    used = epoch * (size - 1)
                    if size > TABLE:
                        for i in range(count):
                            to = place[begin + i] + epoch * size
                            swaps(order, to, size, offsets[client[begin + i]], word, count, i, used)
                        continue
                    digits(word, count, size, used, index)
                    for i in range(count):
                        at = np.uint64(place[begin + i] + epoch * size)
                        start = np.uint64(offsets[client[begin + i]])
                        places = orders[index[i]]
                        order[at] = start + (places & LOW)
                        for _ in range(1, size):
                            places >>= NIBBLE
                            at += ONE
                            order[at] = start + (places & LOW)


draw_orders = jit(_draw_orders)
