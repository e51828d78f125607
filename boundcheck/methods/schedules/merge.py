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


# Clients of contributions by round, the times at which rounds end, and where each round begins among the clients
Followed = tuple[NDArray[np.int32], Ints, NDArray[np.int64]]


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
    # no aggregation is later than this, nor any key that is sorted larger than this many times the number of clients
    latest = (rounds + 2) * 2 * max(whole)
    kind: Any = np.int64 if latest * (count + 1) < SAFE else object
    own = np.array(whole[:count], dtype=kind)
    n, clients = np.arange(rounds, dtype=np.int32), np.arange(count, dtype=np.int32)
    if isinstance(policy, WaitForAll):
        check_size(rounds * count)
        who, n = np.tile(clients, rounds), np.repeat(n, count)
        ends = _multiples(max(whole[:count]), rounds, kind)
    elif isinstance(policy, Window):  # client i takes part in every N'_i-th round, N'_i = ceil(T_i/dt)
        every = [min(-(-t // whole[count]), rounds + 1) for t in whole[:count]]
        check_size(sum(rounds // e for e in every))
        who = np.repeat(clients, [rounds // e for e in every])
        n = np.concatenate([n[e - 1 :: e] for e in every])
        ends = _multiples(whole[count], rounds, kind)
    else:
        if isinstance(policy, Buffer):
            policy.check(count)
        followed = _one_by_one if policy.arrivals == 1 else _buffered
        who, ends, cuts = followed(own, policy, rounds)
        n = np.repeat(n, np.diff(cuts))
    return Timetable.of(count, who, n, ends, unit, own)


def _multiples(step: int, count: int, kind: Any) -> Ints:
    return np.arange(1, count + 1, dtype=kind) * step


def _cuts(finishes: Ints, policy: FirstToArrive | Buffer, rounds: int) -> NDArray[np.int64]:
    """Where the first rounds begin in increasing finishing times, as far as they are full, and where the last ends."""
    if policy.ties == "one_by_one":
        return np.arange(min(len(finishes) // policy.arrivals, rounds) + 1) * policy.arrivals
    cuts = [0]
    if policy.arrivals == 1:
        changes = np.flatnonzero(finishes[1:] != finishes[:-1]) + 1
        return np.concatenate([cuts, changes, [len(finishes)]])[: rounds + 1].astype(np.int64)
    while cuts[-1] + policy.arrivals <= len(finishes) and len(cuts) <= rounds:
        cuts.append(int(np.searchsorted(finishes, finishes[cuts[-1] + policy.arrivals - 1], side="right")))
    return np.array(cuts, dtype=np.int64)


def _one_by_one(own: Ints, policy: FirstToArrive | Buffer, rounds: int) -> Followed:
    """All arrivals up to a time by which there are enough rounds: nobody waits, so that clocks are multiples."""
    speed, wanted = math.fsum(1 / float(t) for t in own), rounds
    while True:
        horizon = max(int((wanted + len(own)) / speed * (1 + 1e-9)) + 1, 1)
        counts = (horizon // own).astype(np.int64)
        while int(counts.sum()) < wanted:  # the estimate of a float fell short
            horizon += int(own.max())
            counts = (horizon // own).astype(np.int64)
        check_size(int(counts.sum()))
        who = np.repeat(np.arange(len(own)), counts)
        before = np.repeat(np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        at = (np.arange(len(who)) - before + 1).astype(own.dtype) * own[who]
        order = np.argsort(at * len(own) + who)  # ties in the order of the clients' numbers
        who, at = who[order], at[order]
        cuts = _cuts(at, policy, rounds)
        if len(cuts) > rounds:
            return who[: cuts[-1]].astype(np.int32), at[cuts[1:] - 1], cuts
        wanted *= 2


def _buffered(own: Ints, policy: FirstToArrive | Buffer, rounds: int) -> Followed:
    """Many rounds at a time: whoever restarts now cannot return before the fastest client's time has passed.

    With t the earliest finish, all finishing times before t + min T are known and are sorted at once.
    """
    check_size(rounds * policy.arrivals)
    fastest, never = own.min(), own.max() * 4 * (rounds + 2)
    finish, waiting, since = own.copy(), np.empty(0, dtype=np.int64), own[:0]
    done, held = 0, 0
    found: list[Followed] = []
    while done < rounds:
        more = np.flatnonzero(finish < finish.min() + fastest)
        more = more[np.argsort(finish[more], kind="stable")]
        queue, at = np.concatenate([waiting, more]), np.concatenate([since, finish[more]])
        finish[more] = never
        cuts = _cuts(at, policy, rounds - done)
        taken = int(cuts[-1])
        waiting, since = queue[taken:], at[taken:]
        if taken:
            widths, end = np.diff(cuts), at[cuts[1:] - 1]
            cohort = queue[:taken]
            found.append((cohort.astype(np.int32), end, held + cuts[1:]))
            finish[cohort] = np.repeat(end, widths) + own[cohort]
            done, held = done + len(widths), held + taken
            check_size(held)
    who, ends, cuts = (np.concatenate(column) for column in zip(*found, strict=True))
    return who, ends, np.concatenate([[0], cuts])
