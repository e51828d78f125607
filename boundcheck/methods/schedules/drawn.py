"""Timetables of exponential times, drawn from the streams of `core.streams`: the same for the same seed, always.

The k-th piece of work (k = 0, 1, ...) of client i takes -log(u)/rates[i], u = (floor(w/2^11) + 1)/2^53 with w the k-th
word of the client's stream for the purpose TIME, round 0.
"""

from __future__ import annotations

import heapq
import math

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


def _synchronous(times: Exponential, rounds: int, seed: int) -> Timetable:
    count = len(times.rates)
    check_size(rounds * count)
    work = np.ascontiguousarray(_draw(times, np.arange(count), rounds, seed).T)
    who, n = np.tile(np.arange(count), rounds), np.repeat(np.arange(rounds), count)
    return Timetable.of(count, who, n, np.cumsum(work.max(axis=1)), None, work.reshape(-1))


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
    horizon = (rounds + 8 * math.sqrt(rounds) + 10) / float(sum(times.rates))
    while True:
        who, at, work = _joined(_until(times, horizon, None, seed))
        if len(at) >= rounds:
            break
        horizon *= 2
    first = np.argsort(at, kind="stable")[:rounds]
    return Timetable.of(len(times.rates), who[first], np.arange(rounds), at[first], None, work[first])


def _windows(times: Exponential, dt: float, rounds: int, seed: int) -> Timetable:
    """A client's k-th contribution is in round (its number of windows so far) - 1."""
    check_size(int(sum(rounds * -math.expm1(-float(r) * dt) for r in times.rates)))
    who, at, work = _joined(_until(times, rounds, dt, seed))
    ends = np.arange(1, rounds + 1, dtype=np.float64) * dt
    return Timetable.of(len(times.rates), who, at.astype(np.int64) - 1, ends, None, work)


def _joined(found: list[tuple[Floats, Floats]]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Clients, times and work of all contributions, client by client."""
    at, work = (np.concatenate(column) for column in zip(*found, strict=True))
    return np.repeat(np.arange(len(found)), [len(own) for own, _ in found]), at, work


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
    rows: list[tuple[int, float]] = []
    ends = np.empty(rounds)
    for n in range(rounds):
        found = [heapq.heappop(queue) for _ in range(policy.m)]
        ends[n] = found[-1][0]
        for _, i, work in found:
            rows.append((i, work))
            again = next_work(i)
            heapq.heappush(queue, (float(ends[n]) + again, i, again))
    who, work = (np.array(column) for column in zip(*rows, strict=True))
    return Timetable.of(count, who, np.repeat(np.arange(rounds), policy.m), ends, None, work)
