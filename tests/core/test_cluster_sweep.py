"""A sweep on a scheduler and two workers that were started by hand, one of them killed midway."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_tools import environment, machines, wait_for

from boundcheck.core.executor import SerialExecutor
from boundcheck.sweeps.run import carry_out
from boundcheck.sweeps.spec import sweep_from_text

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytest.importorskip("pyarrow", reason="the extra `data` is not installed")

BOUND = """kind = "bound"
statement = "scgd/theorem_3_3/corrected"
constants = { n = 2, E = 4, sigma2 = 1, dist2_0 = 4, L = 10 }
chunk = 50
[grid]
constants.mu = ["1/10", 1, 2, 20]
constants.eta = "log:1e-6:1e-2:250"
at.K = [1, 10, 100, 1000, 10000]
"""
COMPARE = """kind = "compare"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "largest" }
at = { K = [1, 10, 100] }
chunk = 1
[grid]
method.E = [1, 2, 3, 4, 5, 6, 7, 8]
method.eta = ["largest", "1/2*largest", "1/1000"]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.glob("*.parquet"))}


@pytest.mark.slow  # a scheduler, two workers and a client start: a quarter of a minute
@pytest.mark.skipif(os.name != "posix", reason="the signals of these tests are POSIX's")
@pytest.mark.parametrize("text", [BOUND, COMPARE], ids=["bound", "compare"])
def test_the_files_are_those_of_this_machine(tmp_path: Path, text: str) -> None:
    spec, out = tmp_path / "sweep.toml", tmp_path / "a"
    spec.write_text(text)
    with machines(tmp_path / "cluster") as cluster:
        cluster.scheduler()
        first, _ = cluster.worker(), cluster.worker()
        command = [sys.executable, "-m", "boundcheck", "sweep", str(spec), "-o", str(out)]
        client = subprocess.Popen(
            [*command, "--cluster", cluster.address], env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        wait_for(lambda: len(contents(out)) >= 3 or client.poll() is not None, 120)
        os.killpg(first.pid, signal.SIGKILL)
        assert len(contents(out)) < sweep_from_text(text).chunks
        said, errors = client.communicate()
    assert client.returncode == 0, errors
    assert b"peak memory: " in said
    carry_out(sweep_from_text(text), tmp_path / "b", SerialExecutor())
    assert contents(out) == contents(tmp_path / "b")
