"""Carrying out a list of independent computations: one after the other, on several processes, or on a cluster.

Nothing above this module may depend on which executor runs. Every computation is a pure function of its
item, so the results do not depend on the number of workers or on the order in which they finish.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from pathlib import Path
from typing import Any, Protocol

from boundcheck.core.loaded import loaded_files
from boundcheck.core.worker_process import Lost, OnDone, OnShare, R, WorkerProcess, WorkerTraceback, pack
from boundcheck.errors import BadInput

MOST_DEATHS = 2  # an item whose worker has died so often is lost


class Executor(Protocol):
    """What everything above sees of an executor."""

    def map(
        self, function: Callable[..., R], items: Iterable[Any], on_done: OnDone[R] = None, on_share: OnShare = None
    ) -> list[R | Lost]:
        """The results of `function(item)` in the order of `items`; the first ones are begun first.

        `on_done(index, result)` is called in this process as each item finishes, in any order. Where `on_share` is
        given, it is `function(item, tell)`, and what it tells of its progress, `tell(share)` with a share from 0 to 1,
        reaches `on_share(index, share)` in this process, some of it.
        An exception that `function` raises, or Ctrl-C, stops the rest and is raised here; what finished
        computations have put into the result store stays there.

        A result may have an attribute `lacking`: a sentence that says what is not on the machine that computed it,
        empty where nothing is. On a cluster such an item is tried on the other workers before its result is taken.
        """
        ...


class SerialExecutor:
    """One item after the other, in this process."""

    def map(
        self, function: Callable[..., R], items: Iterable[Any], on_done: OnDone[R] = None, on_share: OnShare = None
    ) -> list[R | Lost]:
        """See `Executor.map`; nothing is ever lost here."""
        results: list[R | Lost] = []
        for index, item in enumerate(items):
            results.append(function(item) if on_share is None else function(item, partial(on_share, index)))
            if on_done is not None:
                on_done(index, results[-1])
        return results


class ProcessExecutor:
    """Several worker processes on this machine, started afresh (spawn) so that they inherit no threads.

    `function` must be importable (defined at the top of a module), items and results must pickle. Each
    worker has one item at a time: when it dies (out of memory, SIGKILL), just that item is affected. It
    is tried once more in a new worker and, if that dies too, gives a `Lost`; so does one that takes longer than `limit`
    seconds twice.
    """

    def __init__(self, workers: int, limit: float | None = None) -> None:
        """`workers`: the number of processes, at least 1 (BadInput otherwise)."""
        self.workers = _checked(workers)
        self.limit = limit

    def map(
        self, function: Callable[..., R], items: Iterable[Any], on_done: OnDone[R] = None, on_share: OnShare = None
    ) -> list[R | Lost]:
        """See `Executor.map`. Raises BadInput where `function` or an item cannot be sent to a worker."""
        files = loaded_files()
        tasks = [pack(function, item, on_share is not None) for item in items]
        results: dict[int, R | Lost] = {}
        deaths = [0] * len(tasks)
        waiting = list(range(len(tasks)))[::-1]  # taken from the end
        busy: list[WorkerProcess] = []
        idle: list[WorkerProcess] = []

        def settle(index: int, result: R | Lost) -> None:
            results[index] = result
            if on_done is not None:
                on_done(index, result)

        def died(worker: WorkerProcess, how: str) -> None:
            busy.remove(worker)
            deaths[worker.index] += 1
            if deaths[worker.index] < MOST_DEATHS:
                waiting.append(worker.index)
            else:
                settle(worker.index, Lost(f"the worker process of this item died twice, the last time {how}."))

        def hear(worker: WorkerProcess) -> None:
            message = worker.receive()
            if message is None:
                died(worker, worker.stop(grace=10.0))
            elif message[0] == "share":
                if on_share is not None:
                    on_share(worker.index, message[1])
            elif message[0] == "raised":
                error, trace = message[1]
                raise error from WorkerTraceback(trace)
            else:
                busy.remove(worker)
                idle.append(worker)
                settle(worker.index, message[1])

        try:
            while len(results) < len(tasks):
                while waiting and len(busy) < self.workers:
                    worker = idle.pop() if idle else WorkerProcess(files)
                    busy.append(worker)
                    index = waiting.pop()
                    worker.send(index, tasks[index])
                ready = connection.wait([worker.pipe for worker in busy], self._patience(busy))
                for worker in [worker for worker in busy if worker.pipe in ready]:
                    hear(worker)
                for worker in [worker for worker in busy if self._is_over(worker)]:
                    worker.stop()
                    died(worker, f"stopped because the item took longer than {self.limit:g} s")
        finally:
            for worker in [*idle, *busy]:
                worker.stop()
        return [results[index] for index in range(len(tasks))]

    def _is_over(self, worker: WorkerProcess) -> bool:
        return self.limit is not None and time.monotonic() - worker.began > self.limit

    def _patience(self, busy: Iterable[WorkerProcess]) -> float | None:
        """Seconds until the first item exceeds its time."""
        if self.limit is None:
            return None
        return max(0.0, min(worker.began for worker in busy) + self.limit - time.monotonic()) + 0.01


@dataclass(frozen=True)
class Where:
    """What carries out items, as a user asks for it.

    workers: processes of this machine; None: as many as this process may use processors. cluster: instead of them a
    scheduler's address, a scheduler file, or local:N (`core.cluster`). limit: seconds that an item may take.
    """

    workers: int | None = None
    cluster: str | None = None
    limit: float | None = None


HERE = Where()  # on this machine


def chosen_executor(where: Where, shared: Path | str | None = None) -> Executor:
    """The executor that a user asks for: with one worker and without a limit no process at all.

    shared: the place of the result store, which all workers of a cluster must see. Raises BadInput for values that are
    not allowed.
    """
    if where.cluster is not None:
        from boundcheck.core.cluster import ClusterExecutor

        if where.workers is not None:
            raise BadInput("--workers and --cluster exclude each other: a cluster has its own workers.")
        return ClusterExecutor(where.cluster, where.limit, shared)
    workers = where.workers
    if workers is None:
        affinity = getattr(os, "sched_getaffinity", None)
        workers = (os.cpu_count() or 1) if affinity is None else len(affinity(0))
    serial = _checked(workers) == 1 and where.limit is None
    return SerialExecutor() if serial else ProcessExecutor(workers, where.limit)


def _checked(workers: int) -> int:
    if workers < 1:
        raise BadInput(f"workers = {workers} is not allowed; at least 1 worker is needed.")
    return workers
