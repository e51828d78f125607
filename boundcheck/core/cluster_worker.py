"""What a Dask worker does for the client of `core.cluster`: it hands items to processes of its own and watches them.

Each thread of the worker has one process, which computes one item at a time. So an item that crashes, hangs or takes
too much memory ends its process and not the worker, and the client learns how. A worker whose code or arithmetic
differs from the client's refuses.
"""

from __future__ import annotations

import atexit
import platform
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundcheck.core.facts import facts, in_words
from boundcheck.core.seal import seal
from boundcheck.core.worker_process import Death, WorkerProcess, over, share_in

TOPIC = "boundcheck"  # of the events that tell shares
TELLING = 2.0  # seconds between two shares of a chunk: all of them pass through the scheduler
POLL = 0.2  # seconds between two looks at whether the client still wants the item
IDLE = 5.0  # seconds after which a process without work ends
_OPEN = ("running", "paused", "closing_gracefully")  # states of a Dask worker that finishes what it has


@dataclass(frozen=True)
class Chunk:
    """Items that one worker carries out one after the other.

    facts: `shared_facts()` of the client. tasks: packed items (`worker_process.pack`); places: their numbers. session:
    of the client, which gets the shares. limit: seconds that one item may take. sign: a folder that the client has
    made in the result store.
    """

    facts: dict[str, str]
    tasks: tuple[bytes, ...]
    places: tuple[int, ...]
    session: str
    limit: float | None = None
    sign: Path | None = None


@dataclass
class Carried:
    """What became of a chunk: the answers of its leading items and the seconds of each.

    death: how the process of the item after those ended. refused: why this worker takes no items, as the end of a
    sentence that begins with its name.
    """

    host: str = ""
    answers: list[bytes] = field(default_factory=list[bytes])
    seconds: list[float] = field(default_factory=list[float])
    death: Death | None = None
    refused: str = ""


def shared_facts() -> dict[str, str]:
    """What must be equal in client and workers: `core.facts` and the key of the store."""
    return {**facts(), "seal": (seal(b"cluster") or "none")[:8]}  # a value that does not tell the key


def differences(theirs: dict[str, str], own: dict[str, str]) -> str:
    """What this worker has that the client has not, as the end of a sentence; empty where nothing is."""
    names = list(dict.fromkeys((*own, *theirs)))
    if theirs.get("boundcheck") != own.get("boundcheck"):
        names = ["boundcheck"]  # everything else follows from it
    parts = [
        f"has {in_words(name, own.get(name))} where the client has {in_words(name, theirs.get(name))}"
        for name in names
        if theirs.get(name) != own.get(name)
    ]
    return ", and ".join(parts)


# --- carrying out ----------------------------------------------------------------------------------------------------


def carry_out(chunk: Chunk) -> Carried:
    """The task that Dask runs: the items of a chunk, until one of them ends its process."""
    carried = Carried(host=platform.node())
    carried.refused = differences(chunk.facts, shared_facts())
    if chunk.sign is not None and not carried.refused and not chunk.sign.exists():
        carried.refused = (
            f"does not see the result store {chunk.sign.parents[1]}; name a folder that all machines share, or a URL "
            "such as s3://bucket/store, in BOUNDCHECK_STORE"
        )
    if carried.refused:
        return carried
    watch = _Watch(chunk)
    process = _taken()
    try:
        for task, place in zip(chunk.tasks, chunk.places, strict=True):
            began = time.monotonic()
            process.send(task)
            answer = _answer(process, place, watch, began)
            if isinstance(answer, Death):
                carried.death = answer
                return carried
            carried.answers.append(answer)
            carried.seconds.append(time.monotonic() - began)
    except BaseException:
        process.stop()
        raise
    _give_back(process)
    return carried


def _answer(process: WorkerProcess, place: int, watch: _Watch, began: float) -> bytes | Death:
    while True:
        if process.pipe.poll(POLL):
            message = process.receive()
            if message is None:
                return process.stop(grace=10.0)
            share = share_in(message)
            if share is None:
                return message
            watch.tell(place, share)
        elif not watch.wanted():
            raise NotWanted
        else:
            why = watch.objection(process.pid, time.monotonic() - began)
            if why:
                return process.stop(why=why)


class NotWanted(Exception):
    """The client has cancelled the chunk or is gone, or the worker closes; nobody waits for the answer."""


class _Watch:
    """What a chunk's thread sees of its Dask worker."""

    def __init__(self, chunk: Chunk) -> None:
        from distributed import get_worker

        self._worker: Any = get_worker()
        self._key = self._worker.get_current_task()
        self._chunk = chunk
        self._told = -TELLING
        limit = self._worker.memory_manager.memory_limit
        self._memory = None if not limit else limit / max(1, self._worker.state.nthreads)

    def tell(self, place: int, share: float) -> None:
        now = time.monotonic()
        if now - self._told >= TELLING:
            self._told = now
            self._worker.log_event(TOPIC, [self._chunk.session, place, share])

    def wanted(self) -> bool:
        task = self._worker.state.tasks.get(self._key)
        return task is not None and task.state == "executing" and self._worker.status.name in _OPEN

    def objection(self, pid: int, seconds: float) -> str:
        """Why an item has to be stopped, as half a sentence; empty where it may go on."""
        if self._chunk.limit is not None and seconds > self._chunk.limit:
            return over(self._chunk.limit)
        used = _memory_of(pid)
        if self._memory is not None and used > self._memory:
            return (
                f"stopped because it took {used / 1e9:.2g} GB, above its worker's limit of {self._memory / 1e9:.2g} GB"
            )
        return ""


def _memory_of(pid: int) -> int:
    import psutil  # distributed needs it, so it is there

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:  # it has just ended
        return 0


# --- the processes of this worker ------------------------------------------------------------------------------------

_LOCK = threading.Lock()
_IDLE: list[tuple[WorkerProcess, float]] = []  # and when they became so


def _taken() -> WorkerProcess:
    with _LOCK:
        if _IDLE:
            return _IDLE.pop()[0]
    return WorkerProcess()


def _give_back(process: WorkerProcess) -> None:
    with _LOCK:
        _IDLE.append((process, time.monotonic()))
    timer = threading.Timer(IDLE + 0.1, end_idle)
    timer.daemon = True  # a worker that ends does not wait for it
    timer.start()


def end_idle(seconds: float = IDLE) -> None:
    """Ends the processes of this worker that have had nothing to do for so long."""
    now = time.monotonic()
    with _LOCK:
        old = [process for process, since in _IDLE if now - since >= seconds]
        _IDLE[:] = [(process, since) for process, since in _IDLE if now - since < seconds]
    for process in old:
        process.stop()


atexit.register(end_idle, 0.0)  # before multiprocessing would wait for them
