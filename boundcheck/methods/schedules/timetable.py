"""A timetable: who takes part in each round, how stale the work is, and when the server aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundcheck.core.numbers import format_exact, format_short
from boundcheck.errors import BadInput

MAX_ENTRIES = 30_000_000  # contributions of clients that one timetable holds


def check_size(entries: int) -> None:
    """Raises BadInput for a timetable that would fill the memory."""
    if entries > MAX_ENTRIES:
        raise BadInput(
            f"the timetable would hold {entries} contributions of clients; at most {MAX_ENTRIES} are kept, "
            "so ask for fewer rounds."
        )


@dataclass(frozen=True, eq=False)
class Timetable:
    """The first N rounds of a schedule in compressed sparse rows: round n owns entries offsets[n] to offsets[n+1].

    clients: M. offsets: (N+1,) int64. members: (entries,) int32, increasing within a round. delays: (entries,) int32,
    n - rho_i(n), the rounds between the client's receipt of its model and its contribution (0: in the same round).
    ends: (N,) times of aggregation in multiples of `unit`: int64 (Python's integers where these overflow) for fixed
    times, float64 with unit None for drawn ones. work: how long a piece of work takes in the same multiples: (M,) for
    fixed times, (entries,) for drawn ones.
    """

    clients: int
    offsets: NDArray[np.int64]
    members: NDArray[np.int32]
    delays: NDArray[np.int32]
    ends: NDArray[Any]
    unit: Fraction | None
    work: NDArray[Any]

    @staticmethod
    def of(
        clients: int, who: NDArray[Any], n: NDArray[Any], ends: NDArray[Any], unit: Any, work: NDArray[Any]
    ) -> Timetable:
        """The timetable of contributions in any order: their clients, rounds, and, for drawn times, work."""
        order = np.argsort(n.astype(np.int64) * clients + who, kind="stable")  # often nearly in order
        who, n, own = who[order].astype(np.int32), n[order].astype(np.int32), work[order] if unit is None else work
        by_client = np.argsort(who.astype(np.min_scalar_type(clients)), kind="stable")  # 16 bits are sorted by digits
        first = np.diff(who[by_client], prepend=-1) != 0
        waited = np.diff(n[by_client], prepend=-1)
        waited[first] = n[by_client][first] + 1
        delays = np.empty(len(n), dtype=np.int32)
        delays[by_client] = waited - 1
        offsets = np.concatenate([[0], np.cumsum(np.bincount(n, minlength=len(ends)))]).astype(np.int64)
        return Timetable(clients, offsets, who, delays, ends, unit, own)

    @property
    def rounds(self) -> int:
        """N."""
        return len(self.offsets) - 1

    def cohort(self, n: int) -> tuple[int, ...]:
        """S_n, increasing client numbers."""
        return tuple(self.members[self.offsets[n] : self.offsets[n + 1]].tolist())

    def cohorts(self) -> list[tuple[int, ...]]:
        """S_0, S_1, ..."""
        return [self.cohort(n) for n in range(self.rounds)]

    def delays_of(self, n: int) -> tuple[int, ...]:
        """n - rho_i(n) of the clients of `cohort(n)`."""
        return tuple(self.delays[self.offsets[n] : self.offsets[n + 1]].tolist())

    def end(self, n: int) -> Fraction | float:
        """The time t^{n+1} at which round n ends."""
        return float(self.ends[n]) if self.unit is None else int(self.ends[n]) * self.unit

    @property
    def empty(self) -> int:
        """Rounds without a contribution."""
        return int(np.count_nonzero(np.diff(self.offsets) == 0))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Contributions of each client, (M,)."""
        return np.bincount(self.members, minlength=self.clients).astype(np.int64)

    @property
    def max_delay(self) -> int:
        """The largest delay in these rounds; 0 where nobody takes part."""
        return int(self.delays.max(initial=0))

    def visits(self) -> Iterator[tuple[int, int, Any, Any, Any]]:
        """Each contribution as (round, client, start, finish, aggregation) in multiples of `unit`."""
        of_client = len(self.work) == self.clients and self.unit is not None
        for n in range(self.rounds):
            for e in range(int(self.offsets[n]), int(self.offsets[n + 1])):
                i, before = int(self.members[e]), n - int(self.delays[e]) - 1
                start = self.ends[before] if before >= 0 else self.ends[0] * 0
                yield n, i, start, start + self.work[i if of_client else e], self.ends[n]

    def inspect(self, first: int = 0, last: int | None = None) -> list[list[str]]:
        """Rows of text for people: round, time of aggregation, cohort with the delay of each (client:delay)."""
        rows: list[list[str]] = []
        for n in range(first, self.rounds if last is None else min(last, self.rounds)):
            end = self.end(n)
            shown = format_short(end) if isinstance(end, Fraction) else f"{end:.6g}"
            pairs = zip(self.cohort(n), self.delays_of(n), strict=True)
            rows.append([str(n), shown, " ".join(f"{i}:{delay}" for i, delay in pairs) or "-"])
        return rows

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form; times of aggregation as exact text, or as floats where they are drawn."""
        ends = [self.end(n) for n in range(self.rounds)]
        return {
            "schema": 1,
            "clients": self.clients,
            "rounds": self.rounds,
            "cohorts": [list(c) for c in self.cohorts()],
            "delays": [list(self.delays_of(n)) for n in range(self.rounds)],
            "ends": [format_exact(t) if isinstance(t, Fraction) else t for t in ends],
            "empty_rounds": self.empty,
            "counts": self.counts.tolist(),
            "max_delay": self.max_delay,
        }
