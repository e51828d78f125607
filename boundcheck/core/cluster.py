"""The executor of a cluster: Dask distributed carries items to workers on any number of machines.

Dask decides which worker has which item, carries an item out again when its worker is lost, and gives it up after
`distributed.scheduler.allowed-failures` workers; its nannies end workers that take too much memory. Items run in the
threads of Dask's workers: with one thread each, an item that ends its worker costs no other item anything.
Items and results travel by pickle: everybody who reaches the scheduler can run code on all machines of the cluster.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import pickle
import platform
import re
import secrets
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from boundcheck.core.extras import missing
from boundcheck.core.facts import differences, facts
from boundcheck.core.loaded import LoadedFiles, load_again, loaded_files
from boundcheck.core.places import MARKER, Place
from boundcheck.core.worker_process import Lost, OnDone, OnShare, R, interrupts_held, pack, sparing
from boundcheck.errors import BadInput, BoundcheckError, MissingExtra

CONNECTING = 10.0  # seconds to reach a scheduler
_LOG = logging.getLogger("boundcheck.cluster")


class ClusterLost(BoundcheckError):
    """The scheduler does not answer."""


@dataclass(frozen=True)
class _Job:
    """What all items of a call share.

    facts: of the client, which those of a worker must equal. limit: seconds that an item may take. store: the place of
    the result store and its marker, which a worker must see. topic: of the shares that items tell.
    """

    facts: dict[str, str]
    files: LoadedFiles
    limit: float | None
    store: tuple[Path | str, bytes] | None
    topic: str


class ClusterExecutor:
    """Workers of a Dask cluster."""

    def __init__(self, address: str, limit: float | None = None, shared: Path | str | None = None) -> None:
        """address: of a scheduler (tcp://host:port, tls://host:port), a scheduler file, or local:N.

        limit: seconds that one item may take; its worker ends where it takes longer. shared: the place of the result
        store, which every worker must see. Raises BadInput for another address, MissingExtra where Dask is absent.
        """
        if find_spec("distributed") is None:
            raise MissingExtra(missing("distributed", "a cluster"))
        if str(shared).startswith("memory:"):
            raise BadInput(f"the result store {shared} is in the memory of one process; name one that workers share.")
        if not re.fullmatch(r"local:[1-9][0-9]{0,3}|[a-z]+://[^\s/]+", address) and not Path(address).is_file():
            raise BadInput(
                f"--cluster = '{address}' is neither the address of a scheduler, such as tcp://127.0.0.1:8786, nor a "
                "scheduler file that is there, nor local:N with a number of processes."
            )
        self.address = address
        self.limit = limit
        self.shared = shared

    def map(
        self, function: Callable[..., R], items: Iterable[Any], on_done: OnDone[R] = None, on_share: OnShare = None
    ) -> list[R | Lost]:
        """See `Executor.map`; the callbacks may be called in another thread, one at a time.

        Raises BadInput where a worker differs from this process, ClusterLost where the scheduler does not answer.
        """
        tasks = [pack(function, item, on_share is not None) for item in items]
        if not tasks:
            return []
        store = None if self.shared is None else (self.shared, Place(self.shared).prepare())
        topic = f"boundcheck-{secrets.token_hex(8)}"  # of shares
        job = _Job(facts(), loaded_files(elsewhere=True), self.limit, store, topic)
        results: dict[int, R | Lost] = {}
        turn = threading.RLock()

        def share(event: tuple[float, Any]) -> None:
            index, part = event[1]
            with turn:
                if on_share is not None and index not in results:
                    on_share(index, part)

        def settle(index: int, result: R | Lost) -> None:
            with turn:
                results[index] = result
                if on_done is not None:
                    on_done(index, result)

        with _connected(self.address) as client:
            client.subscribe_topic(topic, share)
            killed = self._carried(client, job, dict(enumerate(tasks)), settle)
            for index in killed:  # once more alone: it may have died of another item on its worker
                if self._carried(client, job, {index: tasks[index]}, settle):
                    longer = "" if self.limit is None else f", or took longer than {self.limit:g} s"
                    why = f"it crashed or took too much memory{longer}"
                    settle(index, Lost(f"all Dask workers that carried out this item were lost: {why}."))
        return [results[index] for index in range(len(tasks))]

    def _carried(
        self, client: Any, job: _Job, tasks: dict[int, bytes], settle: Callable[[int, Any], None]
    ) -> list[int]:
        """Carries out the tasks; what is returned are those that Dask has given up because their workers were lost."""
        from distributed import KilledWorker, as_completed

        def submitted(indices: Iterable[int], **how: Any) -> list[Any]:
            keys = [f"{job.topic}-{index}-{secrets.token_hex(4)}" for index in indices]
            own = [(index, tasks[index]) for index in indices]
            return client.map(_carry_out, own, key=keys, job=job, pure=False, **how)

        killed: list[int] = []
        lacking: dict[int, set[str]] = {}  # the workers without what an item needs
        running: Any = as_completed(submitted(tasks), loop=client.loop)
        for batch in running.batches():
            for future in batch:
                if future.status == "error":
                    error = future.exception()
                    if not isinstance(error, KilledWorker):
                        raise error
                    killed.append(int(future.key.split("-")[2]))
            finished = [future for future in batch if future.status != "error"]
            try:
                answers = client.gather(finished)
            except (CancelledError, OSError) as error:
                raise ClusterLost(
                    f"the scheduler at {self.address} was lost; what is finished is kept, and the same command "
                    "continues from there."
                ) from error
            for index, worker, result in answers:
                if getattr(result, "lacking", ""):
                    _LOG.warning("boundcheck: the worker %s lacks something: %s", worker, result.lacking)
                    lacking.setdefault(index, set()).add(worker)
                    others = client.nthreads().keys() - lacking[index]
                    if others:
                        running.update(submitted([index], workers=sorted(others)))
                        continue
                settle(index, result)
        return killed


@contextlib.contextmanager
def _connected(address: str) -> Generator[Any]:
    """Dask's client of a scheduler; for local:N with a scheduler and workers on this machine that end with it."""
    import distributed
    from dask.config import set as configured

    make: Any = distributed.LocalCluster
    own = {"allowed-failures": 1, "worker-saturation": 1.0}  # a worker has one item at a time, and dies of it twice
    with _quiet(), contextlib.ExitStack() as stack:
        try:
            if address.startswith("local:"):
                stack.enter_context(configured({f"distributed.scheduler.{k}": v for k, v in own.items()}))
                with interrupts_held():
                    cluster = make(n_workers=int(address[6:]), threads_per_worker=1, dashboard_address="127.0.0.1:0")
                how: dict[str, Any] = {"address": stack.enter_context(cluster)}
            else:
                how = {"scheduler_file" if Path(address).is_file() else "address": address}
            client = stack.enter_context(
                distributed.Client(**how, timeout=CONNECTING, set_as_default=False, name="boundcheck")
            )
            client.get_versions(check=True)
        except OSError as error:
            why = " ".join(str(error).split()).rstrip(".")
            raise ClusterLost(f"no scheduler answers at {address}: {why}.") from error
        except ValueError as error:
            raise BadInput(f"the cluster at {address} has other versions of Dask's packages: {error}") from error
        if not client.nthreads():
            _LOG.warning("boundcheck: the scheduler at %s has no workers yet; waiting for some (Ctrl-C ends).", address)
        yield client


@contextlib.contextmanager
def _quiet() -> Generator[None]:
    """Dask logs the traceback of every lost connection; what matters to the user is said here."""
    logger = logging.getLogger("distributed")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


# --- on the worker ---------------------------------------------------------------------------------------------------


def _carry_out(task: tuple[int, bytes], job: _Job) -> tuple[int, str, Any]:
    """The number of an item, the address of this worker, and the result.

    Raises BadInput where the worker must not take part.
    """
    from distributed import get_worker

    worker = get_worker()
    differs = differences(job.facts)
    if not differs and job.store is not None and not _sees(*job.store):
        differs = (
            f"does not see the result store {job.store[0]}; name a folder that all machines share, or a URL such as "
            "s3://bucket/store, in BOUNDCHECK_STORE"
        )
    if differs:
        raise BadInput(f"the worker {worker.address} on {platform.node()} cannot take part: it {differs}.")
    load_again(job.files)
    index, packed = task
    function, item, telling = pickle.loads(packed)
    tell = sparing(lambda share: worker.log_event(job.topic, [index, share]))
    with _ended_after(job.limit), contextlib.redirect_stdout(sys.stderr):
        return index, worker.address, function(item, tell) if telling else function(item)


@functools.cache
def _sees(place: Path | str, marker: bytes) -> bool:
    return Place(place).read(MARKER) == marker


@contextlib.contextmanager
def _ended_after(limit: float | None) -> Generator[None]:
    """Ends this worker where what is inside takes longer than `limit` seconds: a thread cannot be stopped."""
    if limit is None:
        yield
        return
    timer = threading.Timer(limit, os._exit, [1])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
