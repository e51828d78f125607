"""Timetables of fixed times, by merging the clients' clocks with array operations.

Times are integers, multiples of one common unit; they are int64, and Python's integers where those would overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.errors import BadInput
from boundcheck.methods.schedules.policies import Buffer, FirstToArrive, Policy, WaitForAll, Window
from boundcheck.methods.schedules.times import Fixed
from boundcheck.methods.schedules.timetable import Timetable, check_size

Ints = NDArray[Any]  # int64 or Python integers
SAFE = 1 << 61


MAX_MULTIPLE = 10**200  # of the common unit of all times; their sums are doubles


def common_unit(values: Sequence[Fraction]) -> tuple[Fraction, list[int]]:
    """A unit of which all values are multiples, and these multiples (coprime)."""
    bottom = math.lcm(*(v.denominator for v in values))
    whole = [int(v * bottom) for v in values]
    common = math.gcd(*whole)
    return Fraction(common, bottom), [v // common for v in whole]


def fixed_timetable(times: Fixed, policy: Policy, rounds: int) -> Timetable:
    """The first rounds of the schedule. Raises BadInput for more contributions than are kept."""
    window = [policy.dt] if isinstance(policy, Window) else []
    unit, whole = common_unit([*times.values, *window])
    if max(whole) > MAX_MULTIPLE:
        raise BadInput(
            "the update times have no common unit of which each is at most 10^200 multiples; write numbers with fewer "
            "digits."
        )
    count = len(times.values)
    # no aggregation is later than this, nor any key that is sorted larger than so many times the number of clients
    latest = (rounds + 2) * 2 * max(whole)
    kind: Any = np.int64 if latest * (count + 1) < SAFE else object
    own = np.array(whole[:count], dtype=kind)
    if isinstance(policy, WaitForAll):
        check_size(rounds * count)
        offsets = np.arange(rounds + 1, dtype=np.int64) * count
        members = np.tile(np.arange(count, dtype=np.int32), rounds)
        ends = _multiples(max(whole[:count]), rounds, kind)
        return Timetable(count, offsets, members, np.zeros(len(members), np.int32), ends, unit, own)
    if isinstance(policy, Window):
        return _windows(own, whole[:count], whole[count], rounds, unit, kind)
    if isinstance(policy, FirstToArrive) and policy.ties == "one_by_one":
        return _one_by_one(own, rounds, unit)
    if isinstance(policy, FirstToArrive):
        return _joint(own, rounds, unit)
    policy.check(count)
    return _one_by_one(own, rounds, unit) if policy == Buffer(1) else _buffered(own, policy, rounds, unit)


def _multiples(step: int, count: int, kind: Any) -> Ints:
    return np.arange(1, count + 1, dtype=kind) * step


def _clocks(own: Ints, counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Ints]:
    """The client and the time of the first counts[i] arrivals of each client, client by client."""
    who = np.repeat(np.arange(len(own)), counts)
    before = np.repeat(np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return who, (np.arange(len(who)) - before + 1).astype(own.dtype) * own[who]


def _arrivals(own: Ints, wanted: int) -> tuple[NDArray[np.int64], Ints]:
    """All arrivals up to a time by which there are at least `wanted`, sorted by time, then client."""
    speed = math.fsum(1 / float(t) for t in own)
    horizon = max(int((wanted + len(own)) / speed * (1 + 1e-9)) + 1, 1)
    counts = (horizon // own).astype(np.int64)
    while int(counts.sum()) < wanted:  # the estimate of a float fell short
        horizon += int(own.max())
        counts = (horizon // own).astype(np.int64)
    check_size(int(counts.sum()))
    return _clocks(own, counts)


def _one_by_one(own: Ints, rounds: int, unit: Fraction) -> Timetable:
    who, at = _arrivals(own, rounds)
    order = np.argsort(at * len(own) + who)  # ties in the order of the clients' numbers
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    delays = _since_last(who, place)
    kept = order[:rounds]
    offsets = np.arange(rounds + 1, dtype=np.int64)
    return Timetable(len(own), offsets, who[kept].astype(np.int32), delays[kept], at[kept], unit, own)


def _since_last(who: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int32]:
    """Delays of contributions listed client by client in order of time, from the round of each."""
    before = np.empty_like(place)
    before[0], before[1:] = -1, np.where(who[1:] == who[:-1], place[:-1], -1)
    return (place - before - 1).astype(np.int32)


def _joint(own: Ints, rounds: int, unit: Fraction) -> Timetable:
    wanted = rounds
    while True:
        who, at = _arrivals(own, wanted)
        order = np.argsort(at * len(own) + who)
        sorted_at = at[order]
        begins = np.concatenate([[0], np.flatnonzero(sorted_at[1:] != sorted_at[:-1]) + 1])
        if len(begins) >= rounds:
            break
        wanted *= 2
    group = np.zeros(len(order), dtype=np.int64)
    group[begins[1:]] = 1
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(group)
    delays = _since_last(who, place)
    offsets = np.concatenate([begins, [len(order)]])[: rounds + 1].astype(np.int64)
    kept = order[: offsets[-1]]
    return Timetable(len(own), offsets, who[kept].astype(np.int32), delays[kept], sorted_at[begins[:rounds]], unit, own)


def _windows(own: Ints, whole: list[int], dt: int, rounds: int, unit: Fraction, kind: Any) -> Timetable:
    """Client i takes part in every N'_i-th round, N'_i = ceil(T_i/dt)."""
    every = [-(-t // dt) for t in whole]
    check_size(sum(rounds // e for e in every))
    widths = np.zeros(rounds + 1, dtype=np.int64)
    for e in every:
        widths[e::e] += 1  # round n is kept at place n + 1
    offsets = np.cumsum(widths)
    free = offsets[:-1].copy()  # where the next client of each round is written
    members = np.empty(int(offsets[-1]), dtype=np.int32)
    for i, e in enumerate(every):
        members[free[e - 1 :: e]] = i
        free[e - 1 :: e] += 1
    waits = np.array([min(e, rounds + 1) - 1 for e in every], dtype=np.int32)
    return Timetable(len(own), offsets, members, waits[members], _multiples(dt, rounds, kind), unit, own)


def _grouped(finishes: Ints, m: int) -> NDArray[np.int64]:
    """Where the full buffers with their ties begin in increasing finishing times, and where the last one ends."""
    cuts, start = [0], 0
    while start + m <= len(finishes):
        start = int(np.searchsorted(finishes, finishes[start + m - 1], side="right"))
        cuts.append(start)
    return np.array(cuts, dtype=np.int64)


def _buffered(own: Ints, policy: Buffer, rounds: int, unit: Fraction) -> Timetable:
    """Many rounds at a time: whoever restarts now cannot return before the fastest client's time has passed.

    With t the earliest finish, all finishing times before t + min T are known and are sorted at once.
    """
    if policy.ties == "joint":
        return _buffered_jointly(own, policy, rounds, unit)
    m, count, entries = policy.m, len(own), rounds * policy.m
    check_size(entries)
    members, delays = np.empty(entries, dtype=np.int32), np.empty(entries, dtype=np.int32)
    ends = np.empty(rounds, dtype=own.dtype)
    # time and client in one number: the order of events is that of the numbers
    fastest, events = own.min() * count, own * count + np.arange(count)
    never = own.max() * 2 * (rounds + 2) * count
    waiting, last = events[:0], np.full(count, -1, dtype=np.int64)
    of_round = np.repeat(np.arange(count), m)
    done = 0
    while done < rounds:
        queue = events[events < events.min() // count * count + fastest]
        queue.sort()
        events[(queue % count).astype(np.int64)] = never
        queue = np.concatenate([waiting, queue])
        full = min(len(queue) // m, rounds - done)
        waiting = queue[full * m :]
        if full:
            end = queue[m - 1 : full * m : m] // count
            cohort = (queue[: full * m] % count).astype(np.int64)
            cohort.reshape(full, m).sort(axis=1)
            inside = of_round[: full * m]
            now, place = inside + done, slice(done * m, (done + full) * m)
            members[place] = cohort
            delays[place] = now - last[cohort] - 1
            ends[done : done + full] = end
            last[cohort] = now
            events[cohort] = (end[inside] + own[cohort]) * count + cohort
            done += full
    return Timetable(count, np.arange(rounds + 1, dtype=np.int64) * m, members, delays, ends, unit, own)


def _buffered_jointly(own: Ints, policy: Buffer, rounds: int, unit: Fraction) -> Timetable:
    """As `_buffered`, with rounds of different sizes."""
    fastest, never = own.min(), own.max() * 4 * (rounds + 2)
    finish, last = own.copy(), np.full(len(own), -1, dtype=np.int64)
    waiting, since = np.empty(0, dtype=np.int64), own[:0]
    done, held = 0, 0
    members: list[NDArray[np.int32]] = []
    delays: list[NDArray[np.int32]] = []
    ends: list[Ints] = []
    sizes: list[NDArray[np.int64]] = []
    while done < rounds:
        found = np.flatnonzero(finish < finish.min() + fastest)
        found = found[np.argsort(finish[found], kind="stable")]
        queue = np.concatenate([waiting, found])
        at = np.concatenate([since, finish[found]])
        finish[found] = never
        cuts = _grouped(at, policy.m)[: rounds - done + 1]
        taken = int(cuts[-1])
        waiting, since = queue[taken:], at[taken:]
        if taken:
            widths = np.diff(cuts)
            inside = np.repeat(np.arange(len(widths)), widths)
            cohort = queue[:taken]
            cohort = cohort[np.argsort(inside * len(own) + cohort)]
            end = at[cuts[1:] - 1]
            now = done + inside
            members.append(cohort.astype(np.int32))
            delays.append((now - last[cohort] - 1).astype(np.int32))
            ends.append(end)
            sizes.append(widths)
            last[cohort] = now
            finish[cohort] = end[inside] + own[cohort]
            done += len(widths)
            held += taken
            check_size(held)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Timetable(
        len(own), offsets, np.concatenate(members), np.concatenate(delays), np.concatenate(ends), unit, own
    )
