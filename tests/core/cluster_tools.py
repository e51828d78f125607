"""A scheduler and workers as real processes of this machine, started as a user starts them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path

HERE = Path(__file__).parent


def wait_for(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def environment(**more: str) -> dict[str, str]:
    paths = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))} | more


class Machines:
    """Processes of a cluster on the loopback interface."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.running: list[subprocess.Popen[bytes]] = []

    def scheduler(self, **more: str) -> subprocess.Popen[bytes]:
        return self._start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", **more)

    def worker(self, *options: str, **more: str) -> subprocess.Popen[bytes]:
        chosen = ("--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", *(options or ("--no-nanny",)))
        return self._start("worker", self.address, *chosen, **more)

    def _start(self, what: str, *options: str, **more: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{what}-{len(self.running)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", what, *options],
                env=environment(**more),
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running.append(process)
        return process

    def logs(self) -> str:
        return "\n".join(p.read_text(errors="replace") for p in sorted(self.folder.glob("*.log")))

    def stop(self) -> None:
        for process in self.running:
            if process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def machines(folder: Path) -> Generator[Machines]:
    folder.mkdir(exist_ok=True)
    found = Machines(folder)
    try:
        yield found
    finally:
        found.stop()
