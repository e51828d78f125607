"""Timetables of exponential times, drawn from the streams of `core.streams`: the same for the same seed, always.

The k-th piece of work (k = 0, 1, ...) of client i takes -log(u)/rates[i], u = (floor(w/2^11) + 1)/2^53 with w the k-th
word of the client's stream for the purpose TIME, round 0.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.streams import TIME, check_seed, philox
from boundcheck.methods.schedules.policies import Buffer, FirstToArrive, Policy, WaitForAll, Window
from boundcheck.methods.schedules.times import Exponential
from boundcheck.methods.schedules.timetable import Timetable, check_size

Floats = NDArray[np.float64]
_TOGETHER = 20  # clients whose times are drawn at once
_BLOCK = 64  # pieces of work that are drawn at once where their number is not known beforehand


def drawn_timetable(times: Exponential, policy: Policy, rounds: int, seed: int) -> Timetable:
    """The first rounds of one draw. Raises BadInput for more contributions than are kept."""
    check_seed(seed)
    if isinstance(policy, WaitForAll):
        return _synchronous(times, rounds, seed)
    if isinstance(policy, Window):
        return _windows(times, float(policy.dt), rounds, seed)
    if isinstance(policy, FirstToArrive) or policy.m == 1:
        return _one_by_one(times, rounds, seed)
    policy.check(len(times.rates))
    return _buffered(times, policy, rounds, seed)


def _draw(times: Exponential, clients: NDArray[np.int64], count: int, seed: int, first: int = 0) -> Floats:
    """Pieces of work number first, first + 1, ... (first even) of these clients, (len(clients), count)."""
    blocks = np.arange(first // 2, (first + count + 1) // 2, dtype=np.uint64)
    key = (np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32))
    r0, r1, r2, r3 = philox((blocks, 0, clients[:, None], TIME), key)
    pairs = np.stack([(r0 << np.uint64(32)) | r1, (r2 << np.uint64(32)) | r3], axis=-1)
    drawn = pairs.reshape(len(clients), -1)[:, :count] >> np.uint64(11)
    rates = np.array([float(times.rates[i]) for i in clients.tolist()])
    return -np.log((drawn.astype(np.float64) + 1) * 2.0**-53) / rates[:, None]


def _rows(who: list[NDArray[np.int64]], n: list[NDArray[np.int64]], work: list[Floats], ends: Floats) -> Timetable:
    """The timetable of contributions listed client by client: their rounds and how long the work took."""
    clients, rounds = len(who), len(ends)
    delays = np.concatenate([np.diff(own, prepend=-1) - 1 for own in n])
    flat, at = np.concatenate(who), np.concatenate(n)
    order = np.argsort(at * clients + flat)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=rounds))]).astype(np.int64)
    members = flat[order].astype(np.int32)
    return Timetable(clients, offsets, members, delays[order].astype(np.int32), ends, None, np.concatenate(work)[order])


def _synchronous(times: Exponential, rounds: int, seed: int) -> Timetable:
    count = len(times.rates)
    check_size(rounds * count)
    work = np.ascontiguousarray(_draw(times, np.arange(count), rounds, seed).T)
    offsets = np.arange(rounds + 1, dtype=np.int64) * count
    members = np.tile(np.arange(count, dtype=np.int32), rounds)
    ends = np.cumsum(work.max(axis=1))
    return Timetable(count, offsets, members, np.zeros(len(members), np.int32), ends, None, work.reshape(-1))


def _until(times: Exponential, horizon: float, dt: float | None, seed: int) -> list[tuple[Floats, Floats]]:
    """When each client delivers up to the horizon, and how long each piece took; in whole windows where dt is given."""
    found: list[tuple[Floats, Floats]] = []
    for start in range(0, len(times.rates), _TOGETHER):
        some = np.arange(start, min(start + _TOGETHER, len(times.rates)))
        mean = horizon * max(float(times.rates[i]) for i in some.tolist()) * (1 if dt is None else dt)
        count = int(mean + 8 * math.sqrt(mean)) + 10
        while True:
            work = _draw(times, some, count, seed)
            at = np.cumsum(work if dt is None else np.ceil(work / dt), axis=1)
            if at[:, -1].min() > horizon:
                break
            count *= 2
        kept = [int(np.searchsorted(row, horizon, side="right")) for row in at]
        found += [(row[:k].copy(), own[:k].copy()) for row, own, k in zip(at, work, kept, strict=True)]
    return found


def _one_by_one(times: Exponential, rounds: int, seed: int) -> Timetable:
    clients = range(len(times.rates))
    horizon = (rounds + 8 * math.sqrt(rounds) + 10) / float(sum(times.rates))
    while True:
        found = _until(times, horizon, None, seed)
        if sum(len(at) for at, _ in found) >= rounds:
            break
        horizon *= 2
    flat = np.concatenate([at for at, _ in found])
    order = np.argsort(flat, kind="stable")
    place = np.empty(len(flat), dtype=np.int64)
    place[order] = np.arange(len(flat))
    own = np.split(place, np.cumsum([len(at) for at, _ in found])[:-1])
    kept = [np.searchsorted(n, rounds) for n in own]
    who = [np.full(k, i, dtype=np.int64) for i, k in zip(clients, kept, strict=True)]
    return _rows(
        who,
        [n[:k] for n, k in zip(own, kept, strict=True)],
        [work[:k] for (_, work), k in zip(found, kept, strict=True)],
        flat[order[:rounds]],
    )


def _windows(times: Exponential, dt: float, rounds: int, seed: int) -> Timetable:
    """A client's k-th contribution is in round (its number of windows so far) - 1."""
    clients = range(len(times.rates))
    check_size(int(sum(rounds * -math.expm1(-float(r) * dt) for r in times.rates)))
    found = _until(times, rounds, dt, seed)
    who = [np.full(len(at), i, dtype=np.int64) for i, (at, _) in zip(clients, found, strict=True)]
    n = [at.astype(np.int64) - 1 for at, _ in found]
    return _rows(who, n, [work for _, work in found], np.arange(1, rounds + 1, dtype=np.float64) * dt)


def _buffered(times: Exponential, policy: Buffer, rounds: int, seed: int) -> Timetable:
    """One event after another: the next arrivals depend on when the buffers before were full."""
    count = len(times.rates)
    check_size(rounds * policy.m)
    taken = [0] * count  # pieces of work of each client that were started
    drawn = list(_draw(times, np.arange(count), _BLOCK, seed))

    def next_work(i: int) -> float:
        if taken[i] == len(drawn[i]):
            more = _draw(times, np.array([i]), len(drawn[i]), seed, len(drawn[i]))
            drawn[i] = np.concatenate([drawn[i], more[0]])
        taken[i] += 1
        return float(drawn[i][taken[i] - 1])

    queue: list[tuple[float, int, float]] = []
    for i in range(count):
        work = next_work(i)
        heapq.heappush(queue, (work, i, work))
    last = [-1] * count
    rows: list[tuple[Any, ...]] = []
    ends = np.empty(rounds)
    for n in range(rounds):
        found = [heapq.heappop(queue) for _ in range(policy.m)]
        ends[n] = found[-1][0]
        for _, i, work in sorted(found, key=lambda entry: entry[1]):
            rows.append((i, n - last[i] - 1, work))
            last[i] = n
            again = next_work(i)
            heapq.heappush(queue, (float(ends[n]) + again, i, again))
    members, delays, work = (np.array(column) for column in zip(*rows, strict=True))
    offsets = np.arange(rounds + 1, dtype=np.int64) * policy.m
    return Timetable(count, offsets, members.astype(np.int32), delays.astype(np.int32), ends, None, work)
