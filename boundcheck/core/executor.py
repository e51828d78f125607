"""Carrying out a list of independent computations: one after the other, or on several processes.

Nothing above this module may depend on which executor runs. Every computation is a pure function of its
item, so the results do not depend on the number of workers or on the order in which they finish.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection, resource_tracker
from multiprocessing.reduction import ForkingPickler
from types import WrapperDescriptorType
from typing import Any, Protocol, TypeVar, cast

from boundcheck.core.loaded import LOADED
from boundcheck.errors import BadInput

R = TypeVar("R")
_Pipe = connection.Connection
TELLING = 0.5  # seconds between two shares that a worker tells


@dataclass(frozen=True)
class Lost:
    """What stands in the place of a result whose worker died, twice; `reason` is a sentence."""

    reason: str


class Executor(Protocol):
    """What everything above sees of an executor."""

    def map(
        self,
        function: Callable[..., R],
        items: Iterable[Any],
        on_done: Callable[[int, R | Lost], None] | None = None,
        on_share: Callable[[int, float], None] | None = None,
    ) -> list[R | Lost]:
        """The results of `function(item)` in the order of `items`; the first ones are begun first.

        `on_done(index, result)` is called in this process as each item finishes, in any order. Where `on_share` is
        given, it is `function(item, tell)`, and what it tells of its progress, `tell(share)` with a share from 0 to 1,
        reaches `on_share(index, share)` in this process, some of it.
        An exception that `function` raises, or Ctrl-C, stops the rest and is raised here; what finished
        computations have put into the result store stays there.
        """
        ...


class SerialExecutor:
    """One item after the other, in this process."""

    def map(
        self,
        function: Callable[..., R],
        items: Iterable[Any],
        on_done: Callable[[int, R | Lost], None] | None = None,
        on_share: Callable[[int, float], None] | None = None,
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
    is tried once more in a new worker and, if that dies too, gives a `Lost`.
    """

    def __init__(self, workers: int) -> None:
        """`workers`: the number of processes, at least 1 (BadInput otherwise)."""
        self.workers = _checked(workers)

    def map(
        self,
        function: Callable[..., R],
        items: Iterable[Any],
        on_done: Callable[[int, R | Lost], None] | None = None,
        on_share: Callable[[int, float], None] | None = None,
    ) -> list[R | Lost]:
        """See `Executor.map`. Raises BadInput where `function` or an item cannot be sent to a worker."""
        tasks = [_packed(function, item, on_share is not None) for item in items]
        results: dict[int, R | Lost] = {}
        deaths = [0] * len(tasks)
        waiting = list(range(len(tasks)))[::-1]  # taken from the end
        busy: dict[_Pipe, tuple[_Worker, int]] = {}
        idle: list[_Worker] = []
        try:
            while len(results) < len(tasks):
                while waiting and len(busy) < self.workers:
                    worker, index = idle.pop() if idle else _Worker(), waiting.pop()
                    busy[worker.pipe] = worker, index
                    worker.send(tasks[index])
                for pipe in connection.wait(list(busy)):
                    worker, index = busy[cast("_Pipe", pipe)]
                    answer = worker.receive()
                    if isinstance(answer, _Share):
                        if on_share is not None:
                            on_share(index, answer.value)
                        continue
                    del busy[worker.pipe]
                    if answer is not None:
                        idle.append(worker)
                        results[index] = answer.result()
                    else:
                        how = worker.stop(grace=10.0)
                        deaths[index] += 1
                        if deaths[index] < 2:
                            waiting.append(index)
                            continue
                        results[index] = Lost(f"the worker process of this item died twice, {how}.")
                    if on_done is not None:
                        on_done(index, results[index])
        finally:
            for worker in [*idle, *(worker for worker, _ in busy.values())]:
                worker.stop()
        return [results[index] for index in range(len(tasks))]


def default_executor(workers: int | None = None) -> Executor:
    """`workers` processes, by default as many as this process may use processors; with one, no process at all."""
    if workers is None:
        affinity = getattr(os, "sched_getaffinity", None)
        workers = (os.cpu_count() or 1) if affinity is None else len(affinity(0))
    return SerialExecutor() if _checked(workers) == 1 else ProcessExecutor(workers)


def _checked(workers: int) -> int:
    if workers < 1:
        raise BadInput(f"workers = {workers} is not allowed; at least 1 worker is needed.")
    return workers


def _packed(function: Callable[..., Any], item: Any, telling: bool) -> bytes:
    files = [(found.again, found.path, found.digest) for found in LOADED.values()]
    try:
        return _dumps((files, _dumps((function, item, telling))))
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        name = getattr(function, "__qualname__", repr(function))
        raise BadInput(f"'{name}' and its item cannot be sent to a worker process: {error}.") from error


class WorkerTraceback(Exception):
    """The traceback of a worker process, as the cause of the exception that it raised."""


@dataclass(frozen=True)
class _Share:
    """How much of the item is done, before its answer."""

    value: float


@dataclass(frozen=True)
class _Returned:
    value: Any

    def result(self) -> Any:
        return self.value


@dataclass(frozen=True)
class _Raised:
    """An exception taken apart: pickle would call its constructor with the message alone, which need not fit."""

    kind: type[Exception]
    args: tuple[Any, ...]
    state: dict[str, Any]
    trace: str

    def result(self) -> Any:
        raise self.rebuilt() from WorkerTraceback(self.trace)

    def rebuilt(self) -> Exception:
        own_constructor = not isinstance(self.kind.__init__, WrapperDescriptorType)
        error = self.kind.__new__(self.kind, *self.args) if own_constructor else self.kind(*self.args)
        error.args = self.args
        error.__dict__.update(self.state)
        return error


class _Worker:
    """One process and the pipe to it; the parent's view."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,))
        with _interrupts_held():
            self._process.start()
        theirs.close()  # so that the death of the worker closes the pipe

    def send(self, task: bytes) -> None:
        with contextlib.suppress(OSError):  # it has died; `receive` will say so
            self.pipe.send_bytes(task)

    def receive(self) -> _Share | _Returned | _Raised | None:
        """What it says next: shares, then the answer; None if the worker died before that was complete."""
        try:
            answer = self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None
        return pickle.loads(answer)

    def stop(self, grace: float = 0.0) -> str:
        """Ends the process after `grace` seconds at most; how it ended, as half a sentence."""
        self._process.join(grace)
        if self._process.exitcode is None:
            self._process.kill()
        self._process.join()
        code = self._process.exitcode or 0
        self._process.close()
        self.pipe.close()
        return f"the last time by signal {-code}" if code < 0 else f"the last time with exit status {code}"


@contextlib.contextmanager
def _interrupts_held() -> Generator[None, None, None]:
    """Ctrl-C reaches all processes of a terminal; a worker started here never sees it, its parent a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: _Pipe) -> None:
    """A worker's life: answer tasks until the pipe is closed or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(task, pipe))


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed with SIGKILL, it could not stop us


def _teller(pipe: _Pipe) -> Callable[[float], None]:
    """Sends shares, not one after the other without a pause."""
    last = -TELLING

    def tell(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= TELLING:
            last = now
            with contextlib.suppress(OSError):  # the parent is gone; `_follow_parent` ends this process
                pipe.send_bytes(_dumps(_Share(float(share))))

    return tell


def _answer(task: bytes, pipe: _Pipe) -> bytes:
    try:
        files, rest = pickle.loads(task)
        for again, path, digest in files:  # the item may hold what is defined in them
            again(path, digest)
        function, item, telling = pickle.loads(rest)
        return _dumps(_Returned(function(item, _teller(pipe)) if telling else function(item)))
    except Exception as error:  # not swallowed: the parent raises it
        trace = "".join(traceback.format_exception(error))
        raised = _Raised(type(error), error.args, dict(error.__dict__), trace)
        try:
            raised.rebuilt()
            return _dumps(raised)
        except (TypeError, AttributeError, ValueError, pickle.PicklingError):
            text = f"{type(error).__name__}: {error}"
            return _dumps(_Raised(RuntimeError, (text,), {}, trace))


def _dumps(value: Any) -> bytes:
    return bytes(ForkingPickler.dumps(value))
