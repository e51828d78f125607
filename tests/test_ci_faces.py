"""The GitHub Action and the pre-commit hook: what their files say is what the command line takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
CLAIM = """
[[claim]]
name = "one round | of two"
statement = "scgd/example_app_c_fedavg/corrected"
problem = { kind = "scgd_appendix_c" }
method = { kind = "fedavg", E = 2, eta = "1/10" }
at = { K = [1] }
arithmetic = "rational"
expect = "EXPECTED"
"""


def test_the_action_checks_and_posts_a_summary(tmp_path: Path) -> None:
    """The step of action.yml, run by bash as GitHub runs it: two files of claims, one of which is missed."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    (script,) = re.findall(r"      run: \|\n((?:        .*\n)+)", text)
    for name, expected in (("good.toml", "HOLDS"), ("bad.toml", "VIOLATED")):
        (tmp_path / name).write_text(CLAIM.replace("EXPECTED", expected), encoding="utf-8")
    command = tmp_path / "boundcheck"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m boundcheck "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    summary = tmp_path / "summary.md"
    summary.write_text("# an earlier step\n", encoding="utf-8")
    surroundings = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_WORKSPACE": str(tmp_path),
        "CLAIMS": "good.toml bad.toml",
        "LOAD": "",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=tmp_path, env=surroundings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    posted = summary.read_text(encoding="utf-8")
    assert posted.startswith("# an earlier step\n")
    assert "- expectation: 1 met, 1 missed, 0 not stated" in posted
    assert "expected VIOLATED, got HOLDS" in posted
    assert "one round \\| of two" in posted
    assert "::error file=bad.toml,line=2,title=missed-expectation::one round | of two: expected VIOLATED" in done.stderr
    assert '"startLine": 2' in (tmp_path / "boundcheck.sarif").read_text(encoding="utf-8")
    assert '<testsuites tests="2" failures="1"' in (tmp_path / "boundcheck.xml").read_text(encoding="utf-8")


def test_the_hook_takes_the_files_that_pre_commit_gives() -> None:
    hook = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    assert hook["entry"] == "boundcheck check"
    for name in ("claims.toml", "ci/my_claims.toml"):
        assert re.search(hook["files"], name)
    assert not re.search(hook["files"], "pyproject.toml")
