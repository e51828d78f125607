"""The GitHub Action, the pre-commit hook and the workflows, carried out on small folders and repositories.

The program `boundcheck` that a shell calls here notes its arguments; the command then runs in this process.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from boundcheck.cli import main

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


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the arguments of the program, which fails where one of them begins with "bad"; it is on the path."""
    noted, command = tmp_path / "noted", tmp_path / "bin" / "boundcheck"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {noted}\ncase " $* " in *" bad"*) exit 1 ;; esac\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    return noted


def claims(folder: Path) -> None:
    for name, expected in (("good_claims.toml", "HOLDS"), ("bad_claims.toml", "VIOLATED")):
        (folder / name).write_text(CLAIM.replace("EXPECTED", expected), encoding="utf-8")


def test_the_action_checks_and_posts_a_summary(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The step of action.yml, run by bash as GitHub runs it: two files of claims, one of which is missed."""
    (script,) = re.findall(r"      run: \|\n((?:        .*\n)+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    claims(tmp_path)
    monkeypatch.chdir(tmp_path)
    summary = tmp_path / "summary.md"
    summary.write_text("# an earlier step\n", encoding="utf-8")
    own = {"GITHUB_STEP_SUMMARY": str(summary), "CLAIMS": "good_claims.toml bad_claims.toml", "LOAD": ""}
    done = subprocess.run(["bash", "-e", "-c", script], env={**os.environ, **own}, check=False)
    assert done.returncode == 1
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert main(program.read_text().splitlines()) == 1
    posted = summary.read_text(encoding="utf-8")
    assert posted.startswith("# an earlier step\n")
    assert "- expectation: 1 met, 1 missed, 0 not stated" in posted
    assert "expected VIOLATED, got HOLDS" in posted
    assert "one round \\| of two" in posted
    said = "title=missed-expectation::one round | of two: expected VIOLATED"
    assert f"::error file=bad_claims.toml,line=2,{said}" in capsys.readouterr().err
    assert '"startLine": 2' in (tmp_path / "boundcheck.sarif").read_text(encoding="utf-8")
    suites = (tmp_path / "boundcheck.xml").read_text(encoding="utf-8")
    assert '<testsuites tests="2" failures="1"' in suites
    assert "closest point: {" in suites


def test_the_hook_stops_a_commit_of_claims_that_miss(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a repository of its own, whose hook does what pre-commit does: the entry on the staged files that match."""
    hook = dict(re.findall(r"^(?:- |  )(\w+): (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE))
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)

    def git(*arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(["git", *who, *arguments], capture_output=True, text=True, check=check)

    git("init", "-q")
    script = repository / ".git" / "hooks" / "pre-commit"
    script.parent.mkdir(exist_ok=True)
    staged = f"git diff --cached --name-only | grep -E '{hook['files']}'"
    script.write_text(f"#!/bin/sh\n{staged} | xargs {hook['entry']}\n", encoding="utf-8")
    script.chmod(0o755)
    claims(repository)
    for name, code in (("good_claims.toml", 0), ("bad_claims.toml", 1)):
        git("add", name)
        done = git("commit", "-q", "-m", name, check=False)
        assert min(done.returncode, 1) == code, done.stdout + done.stderr
        assert program.read_text().splitlines() == ["check", name]
        assert main(program.read_text().splitlines()) == code
    assert git("log", "--format=%s").stdout.split() == ["good_claims.toml"]
    assert not re.search(hook["files"], "pyproject.toml")


def test_the_workflows_run_targets_that_the_makefile_has() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))]
    assert len(texts) == 3
    assert {target for text in texts for target in re.findall(r"run: make ([\w-]+)", text)} <= targets
    assert any("make test" in text for text in texts)
