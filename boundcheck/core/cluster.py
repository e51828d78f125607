"""The executor of a cluster: Dask distributed carries items to workers on any number of machines.

The client gives every thread of a Dask worker one chunk of items at a time, as `executor.ProcessExecutor` gives its
processes one item at a time: so it knows which worker has which item, and what the loss of a worker costs. Workers come
and go; the scheduler may be restarted. Chunks grow until what is spent besides computing is about 1 % of their time.
Items and results travel by pickle: everybody who reaches the scheduler can run code on all machines of the cluster.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import queue
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any, Generic, TypeVar

from boundcheck.core.cluster_session import Session, how_to_reach, one_line, quiet
from boundcheck.core.cluster_worker import Carried, Chunk, shared_facts
from boundcheck.core.extras import missing
from boundcheck.core.places import prepare, reason
from boundcheck.core.worker_process import MOST_DEATHS, Death, Lost, loaded_files, pack, unpack
from boundcheck.errors import BadInput, MissingExtra, StoreError

R = TypeVar("R")
SIGNING = 3600.0  # seconds between two renewals of the sign in the store
LOOK = 1.0  # seconds between two looks at which workers there are
LONGEST_CHUNK = 10.0  # seconds; a worker that is lost costs no more, longer items aside
LARGEST_CHUNK = 1000  # items
_OVERHEAD = 0.005  # seconds a chunk, until it has been measured
_LOG = logging.getLogger("boundcheck.cluster")


class ClusterExecutor:
    """Workers of a Dask cluster. Nothing is started on it but processes of its workers, which end with the work."""

    def __init__(self, address: str, limit: float | None = None, shared: Path | str | None = None) -> None:
        """address: of a scheduler (tcp://host:port, tls://host:port), a scheduler file, or local:N.

        limit: seconds that one item may take. shared: the folder of the result store, which every worker must see.
        Raises BadInput for another address, MissingExtra where Dask is not installed.
        """
        if find_spec("distributed") is None:
            raise MissingExtra(missing("distributed", "a cluster"))
        if str(shared).startswith("memory:"):
            raise BadInput(f"the result store {shared} is in the memory of one process; name one that workers share.")
        self.address = address
        self.limit = limit
        self.shared = shared if isinstance(shared, Path) else None
        self._how = how_to_reach(address)

    def map(
        self,
        function: Callable[..., R],
        items: Iterable[Any],
        on_done: Callable[[int, R | Lost], None] | None = None,
        on_share: Callable[[int, float], None] | None = None,
    ) -> list[R | Lost]:
        """See `Executor.map`.

        Raises BadInput where no worker can take part, ClusterLost where the scheduler stays away. A worker that lacks
        something, or must be refused, is named in the log `boundcheck.cluster`.
        """
        files = loaded_files(elsewhere=True)
        tasks = [pack(function, item, on_share is not None, files) for item in items]
        if not tasks:
            return []
        with quiet(), _signed(self.shared) as sign, contextlib.ExitStack() as stack:
            session = Session(self.address, stack, self._how)
            run: _Run[R] = _Run(session, tasks, self.limit, sign, on_done, on_share)
            return run.results()


@contextlib.contextmanager
def _signed(store: Path | None) -> Generator[Path | None]:
    """A new folder in a store, by which workers on other machines know that they see the same one.

    It lies where `Store.tidy` finds it when the client is killed.
    """
    if store is None:
        yield None
        return
    sign = prepare(store) / ".partial" / f"cluster-{secrets.token_hex(6)}"
    try:
        sign.mkdir(parents=True)
    except OSError as error:
        raise StoreError(f"the result store {store} cannot be written: {reason(error)}.") from error
    try:
        yield sign
    finally:
        with contextlib.suppress(OSError):
            sign.rmdir()


@dataclass
class _Sent:
    """A chunk on its way."""

    worker: str
    places: list[int]
    future: Any
    at: float = field(default_factory=time.monotonic)


class _Run(Generic[R]):
    """One list of items, until all have results."""

    def __init__(
        self,
        session: Session,
        tasks: list[bytes],
        limit: float | None,
        sign: Path | None,
        on_done: Callable[[int, R | Lost], None] | None,
        on_share: Callable[[int, float], None] | None,
    ) -> None:
        self._session, self._tasks, self._limit, self._sign = session, tasks, limit, sign
        self._on_done, self._on_share = on_done, on_share
        self._found: dict[int, R | Lost] = {}
        self._waiting = deque(range(len(tasks)))
        self._deaths: Counter[int] = Counter()
        self._alone: set[int] = set()  # items that may have cost a worker
        self._lacking: dict[int, tuple[R, set[str]]] = {}  # what a worker without all that it needs made of an item
        self._sent: dict[int, _Sent] = {}
        self._numbers = count()
        self._threads: dict[str, int] = {}
        self._refused: dict[str, str] = {}
        self._said: set[str] = set()
        self._looked, self._signed = -LOOK, -SIGNING
        self._pace = _Pace()

    def results(self) -> list[R | Lost]:
        """Carries everything out."""
        try:
            while len(self._found) < len(self._tasks):
                self._look()
                self._hand_out()
                with contextlib.suppress(queue.Empty):
                    self._take(*self._session.events.get(timeout=LOOK / 4))
        finally:
            for sent in self._sent.values():
                self._session.cancel(sent.future)
        return [self._found[place] for place in range(len(self._tasks))]

    def _say(self, sentence: str) -> None:
        """In the log, once."""
        if sentence not in self._said:
            self._said.add(sentence)
            _LOG.warning("boundcheck: %s", sentence)

    def _look(self) -> None:
        """Which workers are there now; what the others had is handed out again."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        self._looked = now
        if self._sign is not None and now - self._signed > SIGNING:
            self._signed = now
            with contextlib.suppress(OSError):
                os.utime(self._sign)  # what is a day old is tidied away
        threads = self._session.workers()
        if threads is None:
            for number in list(self._sent):
                self._again(self._sent.pop(number).places)
            self._session.reconnect()
            threads = self._session.workers() or {}
        for number, sent in list(self._sent.items()):
            if sent.worker not in threads:
                self._lost(self._sent.pop(number))
        self._threads = threads
        for place in [p for p in self._waiting if p in self._lacking and self._lacks_everywhere(p)]:
            self._waiting.remove(place)
            self._settle(place, self._lacking[place][0])
        if not threads:
            self._say(f"the scheduler at {self._session.address} has no workers yet; waiting for some (Ctrl-C ends).")
        elif not self._usable() and not self._sent:
            raise BadInput("\n".join(["no worker can take part:", *(self._refused[w] for w in threads)]))

    def _lacks_everywhere(self, place: int) -> bool:
        usable = self._usable()
        return bool(usable) and set(usable) <= self._lacking[place][1]

    def _usable(self) -> list[str]:
        return [worker for worker in self._threads if worker not in self._refused]

    def _hand_out(self) -> None:
        """Chunks for all threads that have none."""
        busy = Counter(sent.worker for sent in self._sent.values())
        usable = self._usable()
        free = sum(max(0, self._threads[w] - busy[w]) for w in usable)
        while free and self._waiting:
            worker = min(usable, key=lambda w: busy[w] / self._threads[w])
            if busy[worker] >= self._threads[worker]:
                return
            places = self._chosen(worker, usable)
            if not places:  # all that waits lacks something there
                usable.remove(worker)
                free = sum(max(0, self._threads[w] - busy[w]) for w in usable)
                continue
            tasks = tuple(self._tasks[place] for place in places)
            chunk = Chunk(shared_facts(), tasks, tuple(places), self._session.name, self._limit, self._sign)
            number = next(self._numbers)
            self._sent[number] = _Sent(worker, places, self._session.submit(chunk, number, worker))
            busy[worker] += 1
            free -= 1

    def _chosen(self, worker: str, usable: list[str]) -> list[int]:
        """The places of a chunk for a worker, taken from those that wait."""
        size = self._pace.items(len(self._waiting), sum(self._threads[w] for w in usable))
        places: list[int] = []
        for _ in range(len(self._waiting)):
            place = self._waiting[0]
            if place in self._lacking and worker in self._lacking[place][1]:
                self._waiting.rotate(-1)
                continue
            if place in self._alone and places:
                break
            places.append(self._waiting.popleft())
            if place in self._alone or len(places) >= size:
                break
        return places

    def _take(self, what: str, number: int, found: Any = None) -> None:
        """One event."""
        if what == "share":
            if self._on_share is not None and number not in self._found:
                self._on_share(number, found)
            return
        sent = self._sent.pop(number, None)
        if sent is None:  # of a worker that was given up
            return
        if what == "gone":  # with a scheduler that was restarted
            self._again(sent.places)
        elif isinstance(found, Carried):
            self._carried(sent, found)
        elif type(found).__name__ == "KilledWorker":
            self._lost(sent)
        elif type(found).__name__ == "NotWanted":  # the worker closes
            self._again(sent.places)
        else:
            self._refuse(sent, "", f"cannot carry out items: {type(found).__name__}: {one_line(found)}")

    def _carried(self, sent: _Sent, found: Carried) -> None:
        if found.refused:
            self._refuse(sent, found.host, found.refused)
            return
        done = len(found.answers)
        self._pace.note(found.seconds, time.monotonic() - sent.at)
        if found.death is not None:
            self._again(sent.places[done + 1 :])
            self._died(sent.places[done], found.death)
        for place, message in zip(sent.places, found.answers, strict=False):
            result: R = unpack(message)
            lacking = str(getattr(result, "lacking", ""))
            if lacking:
                self._say(f"the worker {_name(sent.worker, found.host)} lacks something: {lacking}")
                workers = self._lacking.get(place, (result, set[str]()))[1] | {sent.worker}
                self._lacking[place] = result, workers
                if not self._lacks_everywhere(place):
                    self._again([place])
                    continue
            self._settle(place, result)

    def _refuse(self, sent: _Sent, host: str, why: str) -> None:
        sentence = f"the worker {_name(sent.worker, host)} is refused: it {why}."
        self._refused[sent.worker] = sentence
        self._again(sent.places)
        if self._usable() or any(other.worker != sent.worker for other in self._sent.values()):
            self._say(sentence)
        self._looked = -LOOK  # at once: it may have been the last one

    def _lost(self, sent: _Sent) -> None:
        """The worker of a chunk is gone: which of several items was at fault is unknown, so they go alone."""
        if len(sent.places) > 1:
            self._alone.update(sent.places)
            self._again(sent.places)
        else:
            self._died(sent.places[0], Death("together with its Dask worker"))

    def _died(self, place: int, death: Death) -> None:
        self._deaths[place] += 1
        if self._deaths[place] >= MOST_DEATHS:
            self._settle(place, Lost.after(death))
        else:
            self._alone.add(place)
            self._again([place])

    def _again(self, places: list[int]) -> None:
        self._waiting.extendleft(reversed(places))

    def _settle(self, place: int, result: R | Lost) -> None:
        self._found[place] = result
        if self._on_done is not None:
            self._on_done(place, result)


class _Pace:
    """How many items a chunk has, from what the last chunks took."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=50)  # of items
        self._overheads: deque[float] = deque([_OVERHEAD], maxlen=20)  # of chunks

    def note(self, seconds: list[float], whole: float) -> None:
        self._seconds.extend(seconds)
        self._overheads.append(max(0.0, whole - sum(seconds)))

    def items(self, waiting: int, threads: int) -> int:
        if not self._seconds:
            return 1
        item = max(sum(self._seconds) / len(self._seconds), 1e-6)
        wish = min(100 * median(self._overheads), LONGEST_CHUNK) / item
        fair = waiting / (2 * max(threads, 1))  # the last chunks end at about the same time
        return max(1, min(math.ceil(wish), math.ceil(fair), LARGEST_CHUNK))


def _name(worker: str, host: str) -> str:
    return f"{worker} on {host}" if host else worker
