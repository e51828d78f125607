"""The compiled path's plan: the cohorts and sample orders of a stretch of rounds.

The random numbers are those of `core.streams`, generated block beside block so that the compiler can use vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boundcheck.engines.simulate.kernel import inlined, jit

LANES = 32  # generator blocks that the compiler may put side by side
REQUESTS = 1024  # generator blocks produced at once, more only where a single visit needs them
ONE = np.uint64(1)
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
M0, M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
W0, W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
COHORT, ORDER, SAMPLE = np.uint64(0), np.uint64(1), np.uint64(3)


@inlined
def philox_round(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """One round of the counter-based generator Philox."""
    p0 = M0 * c0
    p1 = M1 * c2
    return (p1 >> HALF) ^ c1 ^ k0, p1 & MASK, (p0 >> HALF) ^ c3 ^ k1, p0 & MASK


@inlined
def below(word: Any, bound: Any) -> Any:
    """A number below `bound`, the share of the 64-bit word of the whole range."""
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


def _draw_cohorts(seeds: Any, first: Any, rounds: Any, n: Any, cohorts: Any, purpose: Any = COHORT) -> None:
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
            generate(seeds[s], blocks * count, block, round_index, client, purpose, word)
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


def _draw_sparse(seeds: Any, first: Any, rounds: Any, n: Any, cohorts: Any, purpose: Any = COHORT) -> None:
    """What `draw_cohorts` draws, in memory that does not grow with n: places that were swapped are kept in a table."""
    m = cohorts.shape[2]
    draws = min(m, n - 1)
    blocks = (draws + 1) // 2
    room = blocks + LANES
    block = np.zeros(room, np.uint32)
    round_index = np.zeros(room, np.uint32)
    client = np.zeros(room, np.uint32)
    word = np.empty((2, room), np.uint64)
    slots = 4
    while slots < 4 * m:
        slots *= 2
    key = np.empty(slots, np.int64)
    value = np.empty(slots, np.int64)
    for b in range(blocks):
        block[b] = b
    for s in range(len(seeds)):
        for q in range(rounds):
            round_index[:blocks] = first + q
            generate(seeds[s], blocks, block, round_index, client, purpose, word)
            key[:] = -1
            for t in range(m):
                j = np.int64(t)
                if t < draws:
                    j += np.int64(below(word[t & 1, t // 2], n - t))
                i = find(key, t)
                held = value[i] if key[i] == t else t
                i = find(key, j)
                cohorts[s, q, t] = value[i] if key[i] == j else j
                key[i] = j
                value[i] = held


@inlined
def find(key: Any, wanted: Any) -> Any:
    """Where `wanted` stands in the table, or where it belongs."""
    last = len(key) - 1
    i = (wanted * 0x9E3779B1) & last
    while key[i] != wanted and key[i] != -1:
        i = (i + 1) & last
    return i


draw_sparse = jit(_draw_sparse)


def _draw_words(
    seeds: Any, first: Any, rounds: Any, along: Any, clients: Any, counts: Any, purpose: Any, out: Any
) -> None:
    """Word 0 of (round, clients[s, q, p], purpose) to out[s, q, p], p < counts[s, q]; word p of client 0 if `along`."""
    room = REQUESTS + LANES
    block = np.zeros(room, np.uint32)
    round_index = np.zeros(room, np.uint32)
    client = np.zeros(room, np.uint32)
    word = np.empty((2, room), np.uint64)
    where = np.empty((room, 2), np.int64)
    for s in range(len(seeds)):
        used = 0
        for q in range(rounds):
            for p in range(counts[s, q]):
                round_index[used] = first + q
                if along:
                    block[used] = p // 2
                else:
                    client[used] = clients[s, q, p]
                where[used, 0] = q  # one by one: the assignment of a pair takes long to compile
                where[used, 1] = p
                used += 1
                if used == REQUESTS:
                    generate(seeds[s], used, block, round_index, client, np.uint64(purpose), word)
                    for i in range(used):
                        out[s, where[i, 0], where[i, 1]] = word[where[i, 1] & 1 if along else 0, i]
                    used = 0
        if used:
            generate(seeds[s], used, block, round_index, client, np.uint64(purpose), word)
            for i in range(used):
                out[s, where[i, 0], where[i, 1]] = word[where[i, 1] & 1 if along else 0, i]


draw_words = jit(_draw_words)


def _draw_visits(
    seeds: Any, first: Any, rounds: Any, replacement: Any, entry: Any, counts: Any, place: Any,
    clients: Any, begins: Any, sizes: Any, samples: Any, sequence: Any,
) -> None:  # fmt: skip
    """The components that visits step through, to `sequence` from place[s, q, p] on.

    A visit is that of row e = entry[s, q, p] of tables: of client clients[e], who holds sizes[e] components from
    begins[e] on and uses samples[e] of them, drawn with replacement or in fresh orders, the last maybe cut short.
    """
    longest = 1
    largest = 1
    for e in range(len(sizes)):
        longest = max(longest, (samples[e] + 1) // 2)
        largest = max(largest, sizes[e])
    limit = max(REQUESTS, longest)
    room = limit + LANES
    block = np.zeros(room, np.uint32)
    round_index = np.zeros(room, np.uint32)
    client = np.zeros(room, np.uint32)
    word = np.empty((2, room), np.uint64)
    scratch = np.empty(largest, np.uint32)
    purpose = SAMPLE if replacement else ORDER
    for s in range(len(seeds)):
        q, p = 0, 0
        while q < rounds:
            used = 0
            end, stop = q, p  # the visits whose words are generated together
            while end < rounds:
                if stop >= counts[s, end]:
                    end += 1
                    stop = 0
                    continue
                e = entry[s, end, stop]
                blocks = (samples[e] + 1) // 2  # no more than this many words are needed
                if used + blocks > limit:
                    break
                for b in range(blocks):
                    block[used + b] = b
                    round_index[used + b] = first + end
                    client[used + b] = clients[e]
                used += blocks
                stop += 1
            generate(seeds[s], used, block, round_index, client, purpose, word)
            base = 0
            while q < end or (q == end and p < stop):
                if p >= counts[s, q]:
                    q += 1
                    p = 0
                    continue
                e = entry[s, q, p]
                size, count, to, begin = sizes[e], samples[e], place[s, q, p], begins[e]
                if replacement:
                    for t in range(count):
                        sequence[to + t] = begin + np.int64(below(word[t & 1, base + t // 2], size))
                else:
                    done = 0
                    while done + size <= count:
                        used_words = done // size * (size - 1)
                        swaps(sequence, to + done, size, begin, word, 1, base, used_words)
                        done += size
                    if done < count:
                        part(scratch, size, count - done, begin, word, base, done // size * (size - 1))
                        for t in range(count - done):
                            sequence[to + done + t] = scratch[t]
                base += (count + 1) // 2
                p += 1


@inlined
def part(order: Any, size: Any, take: Any, start: Any, word: Any, base: Any, first: Any) -> None:
    """The first `take` places of what `swaps` makes of start, ..., start + size - 1."""
    for t in range(size):
        order[t] = start + t
    for t in range(min(take, size - 1)):
        w = first + t
        j = t + np.int64(below(word[w & 1, base + (w >> 1)], size - t))
        order[t], order[j] = order[j], order[t]


draw_visits = jit(_draw_visits)


def _merge(cohort: Any, counts: Any, often: Any) -> None:
    """Cohorts (S, rounds, m) without their repeats, in place, and how often each member was drawn."""
    for s in range(cohort.shape[0]):
        for q in range(cohort.shape[1]):
            kept = 0
            for p in range(counts[s, q]):
                c = cohort[s, q, p]
                at = 0
                while at < kept and cohort[s, q, at] != c:
                    at += 1
                if at == kept:
                    cohort[s, q, at] = c
                    often[s, q, at] = 0.0
                    kept += 1
                often[s, q, at] += 1.0
            counts[s, q] = kept


merge = jit(_merge)
