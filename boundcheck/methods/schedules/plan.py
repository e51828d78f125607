"""What a schedule of fixed times is as a whole: its period, its shares and its largest delay, without going through it.

With T_i the clients' times in whole multiples of a unit and nu their least common multiple, asynchronous rounds that
are handled one by one repeat after W = sum of nu/T_i rounds (Fraboni et al., (35)), windows of length dt after
lcm(N'_i) rounds, N'_i = ceil(T_i/dt) (Section 4.4). Full buffers repeat from some round on: the state of all clocks
does, which is found by running the clocks until a state returns.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from boundcheck.errors import BadInput, Unsupported
from boundcheck.methods.schedules.merge import common_unit, fixed_timetable
from boundcheck.methods.schedules.policies import Buffer, FirstToArrive, Policy, WaitForAll, Window
from boundcheck.methods.schedules.times import Fixed
from boundcheck.methods.schedules.timetable import MAX_ENTRIES, Timetable

MAX_CYCLE = 3_000_000  # contributions in a period that is gone through
MAX_SEARCH = 20_000_000  # clocks that are looked at in the search for a period


class Plan:
    """One schedule of fixed times. Get it from `plan_of`, which keeps what it has worked out."""

    def __init__(self, times: Fixed, policy: Policy) -> None:
        self.times, self.policy = times, policy
        self.clients = len(times.values)
        if isinstance(policy, Buffer):
            policy.check(self.clients)
        window = [policy.dt] if isinstance(policy, Window) else []
        self.unit, whole = common_unit([*times.values, *window])
        self._whole = whole[: self.clients]
        self._dt = whole[-1]
        self._known: Timetable | None = None
        self._refusal: str | None = None  # why no period was found, so that it is looked for once

    @property
    def single(self) -> bool:
        """Whether every round has exactly one client."""
        return self.policy in (FirstToArrive(), Buffer(1)) or (
            self.clients == 1 and not isinstance(self.policy, Window)
        )

    @property
    def every(self) -> list[int]:
        """N'_i of a window: client i takes part in every N'_i-th round."""
        return [-(-t // self._dt) for t in self._whole]

    @property
    def always_full(self) -> bool:
        """Whether every client takes part in every round, so that no work is stale."""
        if isinstance(self.policy, WaitForAll) or (self.clients == 1 and not isinstance(self.policy, Window)):
            return True
        if isinstance(self.policy, Window):
            return set(self.every) == {1}
        alike = len(set(self._whole)) == 1
        return self.policy == Buffer(self.clients) or (self.policy.ties == "joint" and alike)

    def timetable(self, rounds: int) -> Timetable:
        """The first rounds, all of them kept. Raises BadInput where they are too many."""
        return fixed_timetable(self.times, self.policy, rounds)

    @cached_property
    def _nu(self) -> int:
        return math.lcm(*self._whole)

    @cached_property
    def _cycle(self) -> tuple[int, int]:
        """(lead, period) in rounds. Raises Unsupported where the period is not known by a formula and too long."""
        policy = self.policy
        if self.always_full:
            return 0, 1
        if isinstance(policy, Window):
            return 0, math.lcm(*self.every)
        entries = sum(self._nu // t for t in self._whole)
        if self.single:
            return 0, entries
        if isinstance(policy, FirstToArrive) or policy == Buffer(1, "joint"):
            if entries > MAX_CYCLE:
                raise Unsupported(
                    f"the schedule repeats after {entries} contributions; with joint ties its rounds are counted up to "
                    f"{MAX_CYCLE} contributions."
                )
            arrivals = [
                np.arange(1, self._nu // t + 1, dtype=object if self._nu >= 1 << 62 else np.int64) * t
                for t in self._whole
            ]
            return 0, len(np.unique(np.concatenate(arrivals)))
        assert isinstance(policy, Buffer)
        return self._search(policy)

    def _search(self, policy: Buffer) -> tuple[int, int]:
        """Runs the clocks until their state returns; states are kept by hash, and the match is then proved."""
        if self._refusal is not None:
            raise Unsupported(self._refusal)
        seen: dict[int, int] = {}
        clocks = _Clocks(self._whole, policy)
        for n in range(MAX_SEARCH // self.clients):
            key = hash(clocks.state())
            if key in seen:
                first, again = seen[key], _Clocks(self._whole, policy)
                for _ in range(first):
                    again.round()
                if again.state() == clocks.state():
                    return first, n - first
            seen.setdefault(key, n)
            clocks.round()
        rounds = MAX_SEARCH // self.clients
        self._refusal = f"the schedule does not repeat within {rounds} rounds; give its cohorts as a pattern."
        raise Unsupported(self._refusal)

    @property
    def first(self) -> int:
        """The round from which on the cohorts repeat."""
        return self._cycle[0]

    @property
    def period(self) -> int:
        """After how many rounds the cohorts repeat."""
        return self._cycle[1]

    @cached_property
    def length(self) -> Fraction:
        """How long a period takes."""
        policy = self.policy
        if isinstance(policy, Window):
            return policy.dt * self.period
        if isinstance(policy, WaitForAll):
            return max(self.times.values)
        if isinstance(policy, FirstToArrive) or policy.m == 1:
            return min(self.times.values) if self.always_full and self.clients > 1 else self._nu * self.unit
        shown = self._prefix(self.first + self.period + 1)
        before = shown.ends[self.first - 1] if self.first else 0
        return int(shown.ends[self.first + self.period - 1] - before) * self.unit

    def _prefix(self, rounds: int) -> Timetable:
        """At least this many rounds."""
        if self._known is None or self._known.rounds < rounds:
            self._known = self.timetable(max(rounds, 256, 2 * (0 if self._known is None else self._known.rounds)))
        return self._known

    def cohort(self, n: int) -> tuple[int, ...]:
        """S_n, increasing client numbers. Raises BadInput for a round beyond what is kept of a long period."""
        if self.always_full:
            return tuple(range(self.clients))
        if isinstance(self.policy, Window):
            return tuple(i for i, e in enumerate(self.every) if (n + 1) % e == 0)
        if self._known is None or n >= self._known.rounds:
            with suppress(Unsupported):  # the period is too long to be found
                first, period = self._cycle
                n = n if n < first + period else first + (n - first) % period
        if n * (self.policy.m if isinstance(self.policy, Buffer) else 1) >= MAX_ENTRIES // 2:
            raise BadInput(f"round {n} of this schedule is too late: its timetable would not fit into memory.")
        return self._prefix(n + 1).cohort(n)

    @cached_property
    def cycle(self) -> Timetable:
        """The lead and two periods: what the delays are once the clients have started.

        Raises Unsupported for a period of more than `MAX_CYCLE` contributions.
        """
        first, period = self._cycle
        rounds = first + 2 * period
        most = rounds if self.single else rounds * self.clients
        if isinstance(self.policy, Window):
            most = sum(rounds // e for e in self.every)
        if isinstance(self.policy, FirstToArrive):
            most = 2 * sum(self._nu // t for t in self._whole)
        if isinstance(self.policy, Buffer) and self.policy.ties == "one_by_one":
            most = rounds * self.policy.m
        if most > 2 * MAX_CYCLE or rounds > 2 * MAX_CYCLE:
            raise Unsupported(f"the schedule repeats after {period} rounds, which are too many to go through.")
        return self.timetable(rounds)

    @cached_property
    def shares(self) -> list[Fraction]:
        """The share of a period's rounds in which each client takes part."""
        if self.always_full:
            return [Fraction(1)] * self.clients
        if isinstance(self.policy, Window):
            return [Fraction(1, e) for e in self.every]
        if self.single:
            speed = sum((1 / t for t in self.times.values), Fraction(0))
            return [1 / t / speed for t in self.times.values]
        if isinstance(self.policy, FirstToArrive) or self.policy == Buffer(1, "joint"):
            return [Fraction(self._nu // t, self.period) for t in self._whole]
        counts = self._counts()
        return [Fraction(int(c), self.period) for c in counts]

    def _counts(self) -> list[int]:
        """Contributions of each client in a period."""
        table, (first, period) = self.cycle, self._cycle
        inside = table.members[table.offsets[first] : table.offsets[first + period]]
        return np.bincount(inside, minlength=self.clients).tolist()

    @cached_property
    def max_delay(self) -> int:
        """The largest n - rho_i(n) of all rounds.

        One by one it is sum over j of ceil(T_M/T_j) without the slowest client M, if M is first or last in the order
        of the clients: between two contributions of client i there are at most ceil(T_i/T_j) of client j, and just
        before or after a time at which all clocks meet there are this many for M. In another order, and with joint ties
        and buffers, the lead and two periods are gone through.
        """
        if self.always_full:
            return 0
        if isinstance(self.policy, Window):
            return max(self.every) - 1
        slowest = max(self._whole)
        if self.single and slowest in (self._whole[0], self._whole[-1]):
            place = 0 if self._whole[0] == slowest else self.clients - 1
            return sum(-(-slowest // t) for j, t in enumerate(self._whole) if j != place)
        return self.cycle.max_delay

    @cached_property
    def window(self) -> int | None:
        """The least W such that every W rounds from round 0 on hold each client equally often (Assumption 6).

        None if there is none: the cohorts repeat only after some first rounds that are unlike the later ones.
        """
        if self.always_full:
            return 1
        first, period = self._cycle
        if self.single or isinstance(self.policy, Window):
            return period  # the counts nu/T_i, and lcm/N'_i, have no common divisor
        table, counts = self.cycle, self._counts()
        least = math.gcd(period, *counts)
        last = first + period
        n = np.repeat(np.arange(table.rounds), np.diff(table.offsets))
        for parts in (k for k in range(least, 0, -1) if least % k == 0):
            width = period // parts
            blocks = -(-last // width)
            seen = np.zeros((blocks, self.clients), dtype=np.int64)
            inside = n < blocks * width
            np.add.at(seen, (n[inside] // width, table.members[inside]), 1)
            if (seen == np.array(counts) // parts).all():
                return width
        return None

    @cached_property
    def empty_share(self) -> Fraction:
        """The share of a period's rounds in which nobody takes part."""
        if not isinstance(self.policy, Window) or 1 in self.every:
            return Fraction(0)
        return next((share for share, cohort in self.law if not cohort), Fraction(0))

    @cached_property
    def law(self) -> list[tuple[Fraction, tuple[int, ...]]]:
        """Every cohort of a period, the empty one too, with the share of the rounds that have it.

        Raises Unsupported for a period that is too long to go through.
        """
        if self.always_full:
            return [(Fraction(1), tuple(range(self.clients)))]
        if self.single:
            return [(share, (i,)) for i, share in enumerate(self.shares)]
        table, (first, period) = self.cycle, self._cycle
        found = Counter(table.cohort(n) for n in range(first, first + period))
        return [(Fraction(count, period), cohort) for cohort, count in found.items()]


class _Clocks:
    """The clients' clocks under full buffers, one round at a time."""

    def __init__(self, whole: list[int], policy: Buffer) -> None:
        self.whole, self.policy, self.now = whole, policy, 0
        self.queue = [(t, i) for i, t in enumerate(whole)]
        heapq.heapify(self.queue)

    def state(self) -> tuple[int, ...]:
        """How long each client still works; 0 or less for one that waits."""
        left = [0] * len(self.whole)
        for finish, i in self.queue:
            left[i] = finish - self.now
        return tuple(left)

    def round(self) -> None:
        """The next aggregation."""
        found = [heapq.heappop(self.queue) for _ in range(self.policy.m)]
        self.now = found[-1][0]
        while self.policy.ties == "joint" and self.queue and self.queue[0][0] == self.now:
            found.append(heapq.heappop(self.queue))
        for _, i in found:
            heapq.heappush(self.queue, (self.now + self.whole[i], i))


@lru_cache(maxsize=64)
def plan_of(times: Fixed, policy: Policy) -> Plan:
    """The plan of a schedule, kept between calls."""
    return Plan(times, policy)
