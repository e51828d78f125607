"""The command power: what each claim of a file would miss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cli_tools import Run

CLAIM = """
[[claim]]
name = "descent"
statement = "scgd/theorem_3_3/corrected"
problem = { kind = "scgd_appendix_b", clients = 2, start = 2 }
method = { kind = "scgd", E = 2, eta = "largest" }
at = { K = [1, 100] }
"""


def test_the_command(boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path) -> None:
    outside = CLAIM.replace("descent", "elsewhere").replace("at = { K = [1, 100] }", 'curve = "runs.csv"')
    path = spec(CLAIM, outside.replace('"largest"', '"0.5*largest"'))
    (tmp_path / "runs.csv").write_text("round,dist2\n0,1\n2,0.5\n")
    found = boundcheck_cli("power", path)
    assert found.code == 0
    assert "descent: Power: of " in found.out
    assert "elsewhere: not judged." in found.out
    data = boundcheck_cli("power", path, "--json").json
    (claim,) = data["claims"]
    assert set(claim["caught"]) | set(claim["missed"]) | set(claim["not_run"]) == {m["name"] for m in claim["mutants"]}
    assert [r["claim"] for r in data["refused"]] == ["elsewhere"]
