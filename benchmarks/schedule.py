"""Timetables of M = 1000 clients and 10^6 rounds: time and peak memory, beside a plain loop over a heap.

Target: under 2 s of processor time (one thread) and 200 MB of the whole process, NumPy and the package included. The
rival holds every client's next finishing time in `heapq` and builds the same arrays round by round; it runs in a
process of its own. Both timetables are compared entry by entry in the smaller case that --check runs.

    python benchmarks/schedule.py                 all cases, each in a fresh process
    python benchmarks/schedule.py --one buffer    one case in this process
    python benchmarks/schedule.py --check         merge and heap agree on 30 clients and 3000 rounds
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import resource
import subprocess
import sys
import time
from array import array
from fractions import Fraction

import numpy as np

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


def once(case: str, rival: bool) -> dict[str, float]:
    times, policy = CASES[case]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    began, cpu = time.perf_counter(), time.process_time()
    if rival:
        entries = len(by_heap(times, policy, CLIENTS, ROUNDS)[1])
    else:
        entries = len(merged(times, policy, CLIENTS, ROUNDS).members)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    return {"seconds": seconds, "cpu": cpu, "peak_mb": peak, "before_mb": before, "contributions": entries}


def in_fresh_process(case: str, rival: bool) -> dict[str, float]:
    environment = dict(os.environ) | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, os.path.abspath(__file__), "--one", case, *(["--rival"] if rival else [])]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", choices=list(CASES))
    parser.add_argument("--rival", action="store_true", help="the loop over a heap instead")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(once(asked.one, asked.rival)))
        return 0
    if asked.check:
        fixed = [(times, policy) for times, policy in CASES.values() if not isinstance(times, Exponential)]
        found = [agree(times, policy) for times, policy in fixed]
        print(f"{sum(found)} of {len(found)} timetables agree with the loop over a heap")
        return 0 if all(found) else 1
    print(f"{CLIENTS} clients, {ROUNDS} rounds; NumPy {np.__version__}")
    missed = 0
    for case, (times, _) in CASES.items():
        own = in_fresh_process(case, rival=False)
        met = own["cpu"] < SECONDS and own["peak_mb"] < MEGABYTES
        missed += not met
        text = f"{case:14s} {own['contributions']:>9.0f} contributions  {own['seconds']:6.2f} s, "
        text += f"{own['cpu']:.2f} s of processor  {own['peak_mb']:6.0f} MB"
        if not isinstance(times, Exponential):
            other = in_fresh_process(case, rival=True)
            text += f"  heap {other['cpu']:6.2f} s, ratio {other['cpu'] / own['cpu']:5.1f}"
        print(text + ("" if met else "  MISSED"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
