"""Questions to z3 and cvc5, each in its own process that is killed when it exceeds its limit."""

from __future__ import annotations

import atexit
import json
import os
import selectors
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from boundcheck.core.extras import missing
from boundcheck.errors import MissingExtra

SOLVERS = ("z3", "cvc5")
_START = 30.0  # seconds a process may take to load its solver, apart from the limit of a question


@dataclass(frozen=True)
class Answer:
    """What a solver said: "sat", "unsat" or "unknown"; values of the asked names, True where exact; why unknown."""

    answer: str
    values: dict[str, tuple[Fraction, bool]]
    reason: str = ""


class _Process:
    def __init__(self, solver: str) -> None:
        if find_spec(solver) is None:
            raise MissingExtra(missing(solver, "checking a derivation"))
        self.owner = os.getpid()
        self.lock = threading.Lock()
        path = Path(__file__).with_name("worker.py")
        # -P keeps this folder off the search path, so that no module here hides one that the solver imports
        self.child = subprocess.Popen(
            [sys.executable, "-P", str(path), solver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.fresh = True

    def ask(self, question: bytes, seconds: float) -> tuple[bytes, str]:
        """One line in, (one line out, ""); or (b"", why) when the process died or was killed at the limit."""
        stdin, stdout = self.child.stdin, self.child.stdout
        if stdin is None or stdout is None:
            return b"", "has no pipes"
        try:
            stdin.write(question)
            stdin.flush()
        except BrokenPipeError:
            self.close()
            return b"", "had ended before the question"
        deadline = monotonic() + seconds
        reply = b""
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while not reply.endswith(b"\n"):
                left = deadline - monotonic()
                if left <= 0 or not selector.select(left):
                    self.close()
                    return b"", f"was stopped after {seconds:g} s"
                chunk = os.read(stdout.fileno(), 65536)
                if not chunk:
                    self.close()
                    return b"", "ended without an answer"
                reply += chunk
        return reply, ""

    def close(self) -> None:
        """Kill the child and close the pipes."""
        if self.owner == os.getpid():
            self.child.kill()
            self.child.wait()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # the question was still in the buffer of a process that is gone


_running: dict[str, _Process] = {}
_guard = threading.Lock()


def _process(solver: str) -> _Process:
    with _guard:
        known = _running.get(solver)
        # a forked copy must not share pipes with its parent
        if known is None or known.owner != os.getpid() or known.child.poll() is not None:
            if known is not None:
                known.close()
            known = _running[solver] = _Process(solver)
        return known


def close_all() -> None:
    """End the solver processes of this process; the next question starts new ones."""
    with _guard:
        for process in _running.values():
            process.close()
        _running.clear()


atexit.register(close_all)


def ask(solver: str, text: str, names: Sequence[str], seconds: float) -> Answer:
    """Put SMT-LIB declarations and assertions to `solver` ("z3" or "cvc5"); never longer than the limit.

    A process that exceeds `seconds` is killed and the answer is "unknown" with the reason. The time to load the
    solver does not count. Raises MissingExtra where the solver is not installed.
    """
    process = _process(solver)
    with process.lock:
        if process.fresh:
            hello = json.dumps({"text": "(assert true)", "names": [], "seconds": _START}).encode() + b"\n"
            _, why = process.ask(hello, _START)
            if why:
                return Answer("unknown", {}, f"{solver} {why} while it was started")
            process.fresh = False
        question = json.dumps({"text": text, "names": list(names), "seconds": seconds}).encode() + b"\n"
        reply, why = process.ask(question, seconds)
    if why:
        return Answer("unknown", {}, f"{solver} {why}")
    data = json.loads(reply)
    values = {name: (Fraction(text), bool(exact)) for name, (text, exact) in data["model"].items()}
    return Answer(data["answer"], values, "" if data["answer"] != "unknown" else f"{solver} does not know")
