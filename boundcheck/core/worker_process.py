"""One worker process: it is given one item at a time, tells of its progress and answers; its death is reported.

`executor.ProcessExecutor` has several on this machine, and every thread of a Dask worker has one (`cluster_worker`).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass
from multiprocessing import connection, resource_tracker
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from types import WrapperDescriptorType
from typing import Any

from boundcheck.core.loaded import LOADED, sources_of
from boundcheck.errors import BadInput

Pipe = connection.Connection
TELLING = 0.5  # seconds between two shares that a worker tells
MOST_DEATHS = 2  # an item whose worker has died so often is lost
_KEPT_OUTPUT = 2000  # characters of a worker's output that are kept for the message of its death
_SHOWN_LINES = 3
_SHARE, _ANSWER = b"s", b"a"  # the first byte of what a worker says


class WorkerTraceback(Exception):
    """The traceback of a worker process, as the cause of the exception that it raised."""


@dataclass(frozen=True)
class Returned:
    """The answer of an item that was carried out."""

    value: Any

    def result(self) -> Any:
        """The value."""
        return self.value


@dataclass(frozen=True)
class Raised:
    """An exception taken apart: pickle would call its constructor with the message alone, which need not fit."""

    kind: type[Exception]
    args: tuple[Any, ...]
    state: dict[str, Any]
    trace: str

    def result(self) -> Any:
        """Raises the exception."""
        raise self.rebuilt() from WorkerTraceback(self.trace)

    def rebuilt(self) -> Exception:
        """The exception."""
        own_constructor = not isinstance(self.kind.__init__, WrapperDescriptorType)
        error = self.kind.__new__(self.kind, *self.args) if own_constructor else self.kind(*self.args)
        error.args = self.args
        error.__dict__.update(self.state)
        return error


@dataclass(frozen=True)
class Death:
    """How a worker ended before it answered, as half a sentence, and the last lines of its output."""

    how: str
    output: str = ""


@dataclass(frozen=True)
class Lost:
    """What stands in the place of a result whose worker died, twice; `reason` is a sentence."""

    reason: str

    @staticmethod
    def after(death: Death) -> Lost:
        """The loss of an item after the last death of its worker."""
        output = f" Its last output: {death.output}." if death.output else ""
        return Lost(f"the worker process of this item died twice, the last time {death.how}.{output}")


def over(limit: float) -> str:
    """How a worker ends whose item takes longer than `limit` seconds, as half a sentence."""
    return f"stopped because the item took longer than {limit:g} s"


class WorkerProcess:
    """One process and the pipe to it; the parent's view."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._output = _Output()
        self._process = context.Process(target=_serve, args=(theirs, self._output.theirs))
        with _interrupts_held(), _children_allowed():
            self._process.start()
        theirs.close()  # so that the death of the worker closes the pipe
        self._output.follow()

    @property
    def pid(self) -> int:
        """The process number."""
        return self._process.pid or 0

    def send(self, task: bytes) -> None:
        """Hands over a packed item."""
        with contextlib.suppress(OSError):  # it has died; `receive` will say so
            self.pipe.send_bytes(task)

    def receive(self) -> bytes | None:
        """What it says next: shares (`share_in`), then the answer (`unpack`); None if it died before that was whole."""
        try:
            return self.pipe.recv_bytes()
        except (EOFError, OSError):
            return None

    def stop(self, grace: float = 0.0, why: str = "") -> Death:
        """Ends the process after `grace` seconds at most; why: how it ended, where the parent knows better."""
        self._process.join(grace)
        if self._process.exitcode is None:
            self._process.kill()
        self._process.join()
        code = self._process.exitcode or 0
        self._process.close()
        self.pipe.close()
        how = why or (f"by signal {-code}" if code < 0 else f"with exit status {code}")
        return Death(how, self._output.tail())


class _Output:
    """What a worker prints: passed on to this process's standard error, its last lines kept (on POSIX)."""

    def __init__(self) -> None:
        self._ours, self.theirs = multiprocessing.get_context("spawn").Pipe(duplex=False)
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, daemon=True)

    def follow(self) -> None:
        self.theirs.close()
        self._thread.start()

    def tail(self) -> str:
        self._thread.join(1.0)  # a process that the worker started may hold it open
        lines = [line.strip() for line in self._kept.decode(errors="replace").splitlines() if line.strip()]
        return " | ".join(lines[-_SHOWN_LINES:])

    def _drain(self) -> None:
        with contextlib.suppress(OSError):
            while os.name == "posix" and (found := os.read(self._ours.fileno(), 1 << 16)):
                self._kept = (self._kept + found)[-_KEPT_OUTPUT:]
                with contextlib.suppress(OSError, ValueError):  # a closed standard error loses output, no result
                    sys.stderr.write(found.decode(errors="replace"))
                    sys.stderr.flush()
        self._ours.close()


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


@contextlib.contextmanager
def _children_allowed() -> Generator[None, None, None]:
    """Dask's nanny starts its worker as a daemon, which may not have children; ours follow their parent's death."""
    settings: dict[str, Any] = multiprocessing.current_process()._config  # pyright: ignore[reportAttributeAccessIssue]
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        settings["daemon"] = before


# --- packing: in the client ------------------------------------------------------------------------------------------


_Files = list[tuple[Callable[[str, str], object], str, str, dict[str, bytes] | None]]


def loaded_files(elsewhere: bool = False) -> _Files:
    """The files of `--load`, which a worker loads too; elsewhere: with their bytes, for machines that lack them."""
    return [(f.again, f.path, f.digest, sources_of(Path(f.path)) if elsewhere else None) for f in LOADED.values()]


def pack(function: Callable[..., Any], item: Any, telling: bool, files: _Files) -> bytes:
    """An item for a worker; files: `loaded_files`. Raises BadInput where function or item cannot be pickled."""
    try:
        return _dumps((files, _dumps((function, item, telling))))
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        name = getattr(function, "__qualname__", repr(function))
        raise BadInput(f"'{name}' and its item cannot be sent to a worker process: {error}.") from error


def share_in(message: bytes) -> float | None:
    """The share that a message of a worker tells; None where it is the answer."""
    return float(message[1:]) if message[:1] == _SHARE else None


def unpack(message: bytes) -> Any:
    """The result in the answer of a worker; raises the exception that the item raised."""
    answer: Returned | Raised = pickle.loads(message[1:])
    return answer.result()


def _dumps(value: Any) -> bytes:
    return bytes(ForkingPickler.dumps(value))


# --- the worker's life -----------------------------------------------------------------------------------------------


def _serve(pipe: Pipe, output: Pipe) -> None:
    """Answers tasks until the pipe is closed or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.name == "posix":  # standard output belongs to the command, not to what an item prints
        for number in (1, 2):
            os.dup2(output.fileno(), number)
    output.close()
    threading.Thread(target=_follow_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_ANSWER + _answer(task, pipe))


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed with SIGKILL, it could not stop us


def _teller(pipe: Pipe) -> Callable[[float], None]:
    """Sends shares, not one after the other without a pause."""
    last = -TELLING

    def tell(share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= TELLING:
            last = now
            with contextlib.suppress(OSError):  # the parent is gone; `_follow_parent` ends this process
                pipe.send_bytes(_SHARE + repr(float(share)).encode())

    return tell


def _answer(task: bytes, pipe: Pipe) -> bytes:
    try:
        files, rest = pickle.loads(task)
        for again, path, digest, sources in files:  # the item may hold what is defined in them
            again(_place_of(path, digest, sources), digest)
        function, item, telling = pickle.loads(rest)
        return _dumps(Returned(function(item, _teller(pipe)) if telling else function(item)))
    except Exception as error:  # not swallowed: the parent raises it
        trace = "".join(traceback.format_exception(error))
        raised = Raised(type(error), error.args, dict(error.__dict__), trace)
        try:
            raised.rebuilt()
            return _dumps(raised)
        except (TypeError, AttributeError, ValueError, pickle.PicklingError):
            text = f"{type(error).__name__}: {error}"
            return _dumps(Raised(RuntimeError, (text,), {}, trace))
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()


# digest -> the folder that this process has made for the files with it; it goes with the process
_PLACED: dict[str, tempfile.TemporaryDirectory[str]] = {}


def _place_of(path: str, digest: str, sources: dict[str, bytes] | None) -> str:
    """The path of loaded files: their own where it is there, otherwise a copy of what the client has sent."""
    if sources is None or Path(path).exists():
        return path
    if digest not in _PLACED:
        _PLACED[digest] = tempfile.TemporaryDirectory(prefix="boundcheck-")
        for name, content in sources.items():
            target = Path(_PLACED[digest].name, Path(path).name, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return str(Path(_PLACED[digest].name, Path(path).name))
