"""Pieces of work for a pool of threads: blocks of seeds, and legs of rounds between which a run can be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np

from boundcheck.engines.curve import Ints
from boundcheck.engines.simulate.lowering import Lowered
from boundcheck.engines.simulate.planning import typical
from boundcheck.problems.problem import Arrays

BLOCK_BYTES = 4 << 20  # recorded points that one thread holds at a time
POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Leg:
    """A stretch of rounds: run from `first` to the last stop and keep the points if `columns` says where."""

    first: int
    stops: Ints
    columns: slice | None


@dataclass(frozen=True)
class Cost:
    """Rough nanoseconds of one round, to size the pieces of work; no result depends on them."""

    a_round: float  # however many seeds share it
    a_seed: float  # for each of them

    def of(self, seeds: int) -> float:
        """Nanoseconds of a round that this many seeds take together."""
        return self.a_round + seeds * self.a_seed


def cost_of(lowered: Lowered, arrays: Arrays | None, dim: int, path: str) -> Cost:
    """Of a round on a path."""
    steps, gradients = typical(lowered)
    whole = lowered.whole or lowered.rule.collecting is not None
    if whole:
        gradients = max(1, 2 * gradients + steps)
    matrices = arrays is not None and (arrays.kind == "quadratic" or (whole and len(arrays.client_A) > 0))
    width = dim * dim if matrices else dim
    m = lowered.largest
    if path == "numba":
        return Cost(0.0, 1 + m * (5 + gradients * (4 + width / 2)))
    if arrays is None:
        return Cost(m * 3e4, m * gradients * 1e4)
    visits = m * min(lowered.clients, 1024) if lowered.law is not None else m  # one pass for each client drawn
    return Cost(visits * (3e4 + gradients * 4e3 * (1 + width / dim)), m * gradients * 5 * width)


def block_of(seeds: int, workers: int, points: int, rounds: int, cost: Cost, path: str) -> int:
    """Seeds a thread takes at once: many on the NumPy path, about 50 ms of work on the compiled one.

    Every thread gets equally many blocks of about one size, so that none waits for another at the end.
    """
    fair = -(-seeds // workers)
    memory = max(1, BLOCK_BYTES // (8 * max(1, points)))
    wish = 1024 if path == "numpy" else max(1, int(5e7 / max(1.0, rounds * cost.a_seed)))
    pieces = -(-fair // min(memory, wish))
    return -(-fair // pieces)


def legs_of(grid: Ints, columns: int, stride: int, last_alone: bool = False) -> Iterator[Leg]:
    """Cut the grid into legs of at most `columns` recorded points and about `stride` rounds.

    last_alone: a leg with a recorded point holds the one round that ends there; `columns` is then 1.
    """
    at, g = 0, 0
    while g < len(grid):
        reach = 1 if last_alone else stride
        while grid[g] - at > reach:
            to = min(at + stride, int(grid[g]) - 1) if last_alone else at + stride
            yield Leg(at, np.array([to], dtype=np.int64), None)
            at = to
        end = g + 1
        while end < len(grid) and end - g < columns and grid[end] - at <= stride:
            end += 1
        yield Leg(at, grid[g:end], slice(g, end))
        at, g = int(grid[end - 1]), end


@dataclass
class Job:
    """Work on a pool of threads that can be watched and stopped from the caller's thread."""

    total: int
    on_progress: Callable[[int, int], None] | None
    should_stop: Callable[[], bool] | None
    done: int = 0
    stop: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, amount: int) -> None:
        """Count finished work."""
        with self.lock:
            self.done += amount

    def run(self, work: Callable[[int, Job], bool], firsts: Sequence[int], workers: int) -> int:
        """Carry out work(first, self) for all `firsts`; returns how many leading ones were completed."""
        pool = ThreadPoolExecutor(max_workers=min(workers, len(firsts)), thread_name_prefix="boundcheck-sampled")
        try:
            futures = [pool.submit(work, first, self) for first in firsts]
            pending = set(futures)
            while pending:
                finished, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_EXCEPTION)
                for future in finished:
                    future.result()  # an error in a thread is raised here
                if self.on_progress is not None:
                    self.on_progress(self.done, self.total)
                if self.should_stop is not None and pending and self.should_stop():
                    self.stop.set()
        finally:
            self.stop.set()  # also on Ctrl-C: no thread outlives the call
            pool.shutdown(wait=True, cancel_futures=True)
        completed = [future.result() for future in futures]
        return completed.index(False) if False in completed else len(completed)
