"""A report killed at chosen moments and started again gives the curves of an undisturbed one, byte for byte."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SPEC = """
[[claim]]
name = "balls"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "least_squares", data = "diabetes", clients = 20, split = "random", seed = 0 }
method = { kind = "scgd", E = 4, eta = "0.9*largest" }
at = { K = "log:1:1e5:10" }

[[claim]]
name = "sampled"
statement = "scgd/theorem_3_3/corrected"
engine = "sampled"
seeds = 40
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


def _curves(folder: Path) -> dict[str, bytes]:
    found = {str(p.relative_to(folder)): p.read_bytes() for p in (folder / "store").rglob("curve.npz")}
    return found | {"report.json": (folder / "report" / "report.json").read_bytes()}


@pytest.mark.slow  # 12 s: reports are killed and begun again; the store's kills are quick tests
def test_reports_killed_in_the_middle_of_writing_end_alike(tmp_path: Path) -> None:
    spec = tmp_path / "claims.toml"
    spec.write_text(SPEC)
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
