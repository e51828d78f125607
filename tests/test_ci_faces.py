"""The GitHub Action, the pre-commit hook and the workflows, carried out on small folders and repositories."""

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


def program(folder: Path) -> None:
    """Put a command `boundcheck` of this interpreter into the folder."""
    command = folder / "boundcheck"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m boundcheck "$@"\n', encoding="utf-8")
    command.chmod(0o755)


def test_the_action_checks_and_posts_a_summary(tmp_path: Path) -> None:
    """The step of action.yml, run by bash as GitHub runs it: two files of claims, one of which is missed."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    (script,) = re.findall(r"      run: \|\n((?:        .*\n)+)", text)
    for name, expected in (("good.toml", "HOLDS"), ("bad.toml", "VIOLATED")):
        (tmp_path / name).write_text(CLAIM.replace("EXPECTED", expected), encoding="utf-8")
    program(tmp_path)
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
    suites = (tmp_path / "boundcheck.xml").read_text(encoding="utf-8")
    assert '<testsuites tests="2" failures="1"' in suites
    assert "closest point: {" in suites


def git(repository: Path, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "PATH": f"{repository.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=repository, env=own, capture_output=True, text=True, check=check
    )


def test_the_hook_stops_a_commit_of_claims_that_miss(tmp_path: Path) -> None:
    """In a repository of its own, whose hook does what pre-commit does: the entry on the staged files that match."""
    hook = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    repository = tmp_path / "repository"
    repository.mkdir()
    program(tmp_path)
    git(repository, "init", "-q")
    script = repository / ".git" / "hooks" / "pre-commit"
    script.parent.mkdir(exist_ok=True)
    staged = f"git diff --cached --name-only | grep -E '{hook['files']}'"
    script.write_text(f"#!/bin/sh\n{staged} | xargs {hook['entry']}\n", encoding="utf-8")
    script.chmod(0o755)
    for name, expected, code in (("claims.toml", "HOLDS", 0), ("my_claims_2.toml", "VIOLATED", 1)):
        (repository / name).write_text(CLAIM.replace("EXPECTED", expected), encoding="utf-8")
        git(repository, "add", name)
        done = git(repository, "commit", "-q", "-m", name, check=False)
        assert min(done.returncode, 1) == code, done.stdout + done.stderr
        assert ("expected VIOLATED, got HOLDS" in done.stdout + done.stderr) is bool(code)
    assert git(repository, "log", "--format=%s").stdout.split() == ["claims.toml"]
    assert not re.search(hook["files"], "pyproject.toml")


def test_the_workflows_run_targets_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    texts = [path.read_text(encoding="utf-8") for path in workflows]
    assert len(workflows) == 3
    assert {target for text in texts for target in re.findall(r"run: make ([\w-]+)", text)} <= targets
    assert any("make test" in text for text in texts)
