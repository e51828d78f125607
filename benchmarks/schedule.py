"""Timetables of 1000 clients and 10^6 rounds: processor time and peak memory, beside a plain loop over a heap.

Memory is that of the whole process, NumPy and the package included. The rival holds every client's next finishing time
in `heapq` and builds the same arrays round by round, in a process of its own. First both are held against each other
entry by entry, on 30 clients and 3000 rounds.
"""

from __future__ import annotations

import heapq
import sys
from array import array
from collections.abc import Iterator
from fractions import Fraction

from _table import Row, fresh, peak_mb, run, timed

from boundcheck.methods.schedules import (
    F80,
    Buffer,
    Exponential,
    FirstToArrive,
    Fixed,
    Policy,
    Spread,
    Times,
    Timetable,
    Window,
    drawn_timetable,
    fixed_timetable,
)
from boundcheck.methods.schedules.merge import common_unit

CLIENTS, ROUNDS = 1000, 1_000_000
SECONDS, MEGABYTES = 2.0, 200.0

# name -> (times, policy). Windows: from every round to every 1000th; a window in which all take part every round or
# every second one would have 7 * 10^8 contributions, which no timetable keeps (its period is 2 rounds).
CASES: dict[str, tuple[Times, Policy]] = {
    "asynchronous": (F80, FirstToArrive()),
    "joint ties": (F80, FirstToArrive("joint")),
    "windows": (Spread(Fraction(1000)), Window(Fraction(1, 1000))),
    "buffer": (F80, Buffer(10)),
    "exponential": (Exponential(tuple(Fraction(1000 + i, 1000) for i in range(CLIENTS))), FirstToArrive()),
}


def merged(times: Times, policy: Policy, clients: int, rounds: int) -> Timetable:
    own = times.of(clients)
    if isinstance(own, Fixed):
        return fixed_timetable(own, policy, rounds)
    return drawn_timetable(own, policy, rounds, seed=0)


def by_heap(times: Times, policy: Policy, clients: int, rounds: int) -> tuple[array[int], array[int], array[int]]:
    """The rival: offsets, members and delays, one event at a time."""
    own = times.of(clients)
    assert isinstance(own, Fixed)
    _, whole = common_unit([*own.values, *([policy.dt] if isinstance(policy, Window) else [])])
    queue = [(t, i) for i, t in enumerate(whole[:clients])]
    heapq.heapify(queue)
    offsets, members, delays = array("q", [0]), array("i"), array("i")
    last = [-1] * clients
    for n in range(rounds):
        if isinstance(policy, Window):
            now, cohort = (n + 1) * whole[-1], []
            while queue[0][0] <= now:
                cohort.append(heapq.heappop(queue)[1])
        else:
            cohort = []
            for _ in range(policy.m if isinstance(policy, Buffer) else 1):
                now, i = heapq.heappop(queue)
                cohort.append(i)
            while not isinstance(policy, Buffer) and policy.ties == "joint" and queue and queue[0][0] == now:
                cohort.append(heapq.heappop(queue)[1])
        for i in sorted(cohort):
            members.append(i)
            delays.append(n - last[i] - 1)
            last[i] = n
            heapq.heappush(queue, (now + whole[i], i))
        offsets.append(len(members))
    return offsets, members, delays


def agree(times: Times, policy: Policy) -> bool:
    table, (offsets, members, delays) = merged(times, policy, 30, 3000), by_heap(times, policy, 30, 3000)
    return (
        table.offsets.tolist() == offsets.tolist()
        and table.members.tolist() == members.tolist()
        and table.delays.tolist() == delays.tolist()
    )


def once(case: str, side: str) -> dict[str, float]:
    times, policy = CASES[case]
    if side == "rival":
        seconds, (_, members, _) = timed(lambda: by_heap(times, policy, CLIENTS, ROUNDS))
    else:
        seconds, table = timed(lambda: merged(times, policy, CLIENTS, ROUNDS))
        members = table.members
    return {"seconds": seconds, "peak": peak_mb(), "contributions": len(members)}


def results() -> Iterator[Row]:
    fixed = {name: case for name, case in CASES.items() if not isinstance(case[0], Exponential)}
    if apart := [name for name, case in fixed.items() if not agree(*case)]:
        raise SystemExit(f"{', '.join(apart)}: the timetable is not that of the loop over a heap")
    for case in CASES:
        own = fresh(__file__, case, "ours")
        yield Row(f"{case}: processor time", own["seconds"], "s", SECONDS, note=f"{own['contributions']} contributions")
        yield Row(f"{case}: peak memory", own["peak"], "MB", MEGABYTES)
        if case in fixed:
            rival = fresh(__file__, case, "rival")
            yield Row(f"{case}: time of the loop over a heap over ours", rival["seconds"] / own["seconds"], "times")


if __name__ == "__main__":
    sys.exit(run(__doc__, results, once))
