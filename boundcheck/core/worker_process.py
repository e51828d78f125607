"""One worker process of this machine: it carries out one item at a time, and its death is reported."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from boundcheck.core.loaded import LoadedFiles, load_again
from boundcheck.errors import BadInput

R = TypeVar("R")
Pipe = connection.Connection
TELLING = 0.5  # seconds between two shares that an item tells


@dataclass(frozen=True)
class Lost:
    """What stands in the place of a result whose worker died again and again; `reason` is a sentence."""

    reason: str


OnDone = Callable[[int, R | Lost], None] | None  # see `executor.Executor.map`
OnShare = Callable[[int, float], None] | None


class WorkerTraceback(Exception):
    """The traceback of a worker process, as the cause of the exception that it raised."""


class WorkerProcess:
    """One process and the pipe to it; the parent's view."""

    def __init__(self, files: LoadedFiles) -> None:
        context = multiprocessing.get_context("spawn")  # threads are not inherited
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, files))
        with interrupts_held():
            self._process.start()
        theirs.close()  # so that the death of the worker closes the pipe
        self.index, self.began = -1, 0.0  # of the item that it has

    def send(self, index: int, task: bytes) -> None:
        """Hands over a packed item."""
        self.index, self.began = index, time.monotonic()
        with contextlib.suppress(OSError):  # it has died; `receive` will say so
            self.pipe.send_bytes(task)

    def receive(self) -> tuple[str, Any] | None:
        """("share", s), ("done", result) or ("raised", (exception, traceback)); None where the process has died."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def stop(self, grace: float = 0.0) -> str:
        """Ends the process after `grace` seconds at most, and returns how it ended, as half a sentence."""
        self._process.join(grace)
        if self._process.exitcode is None:
            self._process.kill()
        self._process.join()
        code = self._process.exitcode or 0
        self._process.close()
        self.pipe.close()
        return f"by signal {-code}" if code < 0 else f"with exit status {code}"


def pack(function: Callable[..., Any], item: Any, telling: bool) -> bytes:
    """An item for a worker. Raises BadInput where function or item cannot be pickled."""
    try:
        return bytes(ForkingPickler.dumps((function, item, telling)))
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        name = getattr(function, "__qualname__", repr(function))
        raise BadInput(f"'{name}' and its item cannot be sent to a worker process: {error}.") from error


def sparing(tell: Callable[[float], object]) -> Callable[[float], None]:
    """`tell`, called twice a second at most."""
    last = -TELLING

    def told(share: float) -> None:
        nonlocal last
        if time.monotonic() - last >= TELLING:
            last = time.monotonic()
            tell(share)

    return told


@contextlib.contextmanager
def interrupts_held() -> Generator[None]:
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


def _serve(pipe: Pipe, files: LoadedFiles) -> None:
    """Answers tasks until the pipe is closed or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":  # standard output belongs to the command, not to what an item prints
        os.dup2(2, 1)
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(task, pipe, files))
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed with SIGKILL, it could not stop us


def _answer(task: bytes, pipe: Pipe, files: LoadedFiles) -> bytes:
    try:
        load_again(files)  # the item may hold what is defined in them
        function, item, telling = pickle.loads(task)
        share = sparing(lambda share: pipe.send(("share", share)))
        return bytes(ForkingPickler.dumps(("done", function(item, share) if telling else function(item))))
    except Exception as error:  # not swallowed: the parent raises it
        trace = "".join(traceback.format_exception(error))
        try:
            packed = bytes(ForkingPickler.dumps(("raised", (error, trace))))
            pickle.loads(packed)
            return packed
        except Exception:  # whatever its pickling raises
            return bytes(ForkingPickler.dumps(("raised", (RuntimeError(f"{type(error).__name__}: {error}"), trace))))
