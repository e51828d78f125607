"""A sweep whose client and one of whose workers are killed: what is there is kept, and the files are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from boundcheck.core.executor import SerialExecutor
from boundcheck.sweeps.run import carry_out
from boundcheck.sweeps.spec import load_sweep

pytest.importorskip("pyarrow", reason="the extra `data` is not installed")
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the worker processes in /proc")

BOUND = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 2, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }
chunk = 500
[grid]
constants.mu = ["1/10", 1, 2, 20]
constants.eta = "log:1e-6:1e-2:1000"
at.K = "log:1:1000000:25:integer"
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.glob("*.parquet"))}


def workers_of(pid: int) -> list[int]:
    """The worker processes of a process: its children that are no helpers of multiprocessing."""
    try:
        children = [c for f in Path(f"/proc/{pid}/task").glob("*/children") for c in f.read_text().split()]
        return [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]
    except OSError:
        return []


def until(condition: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    while not condition() and process.poll() is None:
        time.sleep(0.002)


def files(folder: Path) -> int:
    return len(list(folder.glob("*.parquet")))


@pytest.mark.slow  # 10^5 rows by three commands with two workers each: half a minute
@pytest.mark.parametrize("where", [("--workers", "2"), ("--cluster", "local:2")])
def test_client_and_worker_killed_at_100000_rows(tmp_path: Path, where: tuple[str, str]) -> None:
    if where[0] == "--cluster":
        pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    spec, out = tmp_path / "sweep.toml", tmp_path / "a"
    spec.write_text(BOUND)
    command = [sys.executable, "-m", "boundcheck", "sweep", str(spec), "-o", str(out), *where]

    def started(*more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    first = started()
    until(lambda: files(out) >= 20, first)
    first.kill()  # its workers see that it is gone and end
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    there = files(out)
    assert 20 <= there < 200
    second = started("--json")
    until(lambda: files(out) >= there + 20, second)
    os.kill(workers_of(second.pid)[0], signal.SIGKILL)
    said, errors = second.communicate()
    assert second.returncode == 0, errors
    summary = json.loads(said)
    assert (summary["rows"], summary["lost"]) == (100_000, [])
    assert there <= summary["kept_chunks"] <= there + 2  # a worker may finish its chunk after the client's end
    assert summary["kept_chunks"] + summary["computed_chunks"] == 200
    assert 10**7 < summary["peak_memory_bytes"]["workers"] < 10**9
    carry_out(load_sweep(spec), tmp_path / "b", SerialExecutor())
    assert contents(out) == contents(tmp_path / "b")
