"""A report killed at random moments and started again gives the curves of an undisturbed one, byte for byte."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SPEC = """
[[claim]]
name = "balls"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "least_squares", data = "diabetes", clients = 20, split = "random", seed = 0 }
method = { kind = "scgd", E = 4, eta = "0.9*largest" }
at = { K = "log:1:1e9:40" }

[[claim]]
name = "changing step"
statement = "scgd/theorem_3_4/corrected"
problem = { kind = "scgd_section_4", seed = 0 }
method = { kind = "scgd", E = 4, eta0 = "1e-3" }
at = { K = "log:1:300:20" }

[[claim]]
name = "sampled"
statement = "scgd/theorem_3_3/corrected"
engine = "sampled"
seeds = 400
problem = { kind = "scgd_section_4", seed = 1 }
method = { kind = "scgd", E = 4, eta = "largest" }
at = { K = "log:1:400:12" }

[[claim]]
name = "rationals"
statement = "scgd/example_app_c_scgd/corrected"
arithmetic = "rational"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = "1/10" }
constants = { x_0 = 1 }
at = { K = [0, 1, 10, 50] }
"""


def _start(folder: Path, spec: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"BOUNDCHECK_STORE": str(folder / "store")}
    command = [sys.executable, "-m", "boundcheck", "report", str(spec), "-o", str(folder / "report")]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def _finish(folder: Path, spec: Path) -> float:
    began = time.monotonic()
    process = _start(folder, spec)
    out, err = process.communicate()
    assert process.returncode == 0, (out + err).decode()
    return time.monotonic() - began


def _curves(folder: Path) -> dict[str, bytes]:
    found = {str(p.relative_to(folder)): p.read_bytes() for p in (folder / "store").rglob("curve.npz")}
    return found | {"report.json": (folder / "report" / "report.json").read_bytes()}


@pytest.mark.slow  # a minute and more: each kill costs half a report and the start of several processes
def test_killed_reports_end_alike(tmp_path: Path) -> None:
    spec = tmp_path / "claims.toml"
    spec.write_text(SPEC)
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    whole = _finish(undisturbed, spec)
    chance = random.Random(20261121)
    for _ in range(10):
        process = _start(disturbed, spec)
        time.sleep(chance.uniform(0.1, 0.9) * whole)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    _finish(disturbed, spec)
    expected = _curves(undisturbed)
    assert len(expected) >= 5
    assert _curves(disturbed) == expected


@pytest.mark.slow  # 12 s: reports are killed and begun again; the store's kills are quick tests
def test_reports_killed_in_the_middle_of_writing_end_alike(tmp_path: Path) -> None:
    """The same on one process, with three smaller claims, and at moments that are chosen and not random."""
    spec = tmp_path / "claims.toml"
    text = "[[claim]]".join(part for part in SPEC.split("[[claim]]") if "changing step" not in part)
    spec.write_text(text.replace("log:1:1e9:40", "log:1:1e5:10").replace("seeds = 400", "seeds = 40"))
    undisturbed, disturbed = tmp_path / "undisturbed", tmp_path / "disturbed"
    program = Path(__file__).with_name("killed_report.py")
    command = [sys.executable, str(program), str(spec), str(undisturbed), str(disturbed)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    ended = [tuple(map(int, x.split()[1:])) for x in found.stdout.splitlines() if x.startswith("ended")]
    expected = _curves(undisturbed)
    runs, pages = len(expected) - 1, len(list((undisturbed / "report").glob("*.html")))
    assert runs >= 3
    killed = -signal.SIGKILL
    assert ended[0] == (killed, 1, 0)
    assert ended[1][:2] == (killed, runs)
    assert 0 < ended[1][2] < pages
    assert ended[2] == (0, runs, pages)
    assert _curves(disturbed) == expected
