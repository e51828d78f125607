"""The pages of the documentation do what they say: files, commands and output."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.documents import follow, programs, steps_of

ROOT = Path(__file__).parent.parent
CI = ROOT / "docs" / "ci.md"


def installs(command: str) -> bool:
    return command.startswith(("python -m venv", ". venv", "pip install"))


def test_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command but those that install."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "work").mkdir()
    ran = follow(CI, tmp_path / "work", skip=installs, path=programs(tmp_path / "bin"))
    assert ran == sum(not installs(step.command) for step in steps_of(CI.read_text(encoding="utf-8")) if step.command)
    assert ran > 8


@pytest.mark.slow
def test_ci_in_a_clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with the wheel alone, installed into an environment of its own (some minutes: pip gets the packages)."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    binaries = tmp_path / "venv" / "bin"
    installed = subprocess.run(
        [binaries / "pip", "install", "--quiet", wheel, "pytest"], capture_output=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"no package registry: {installed.stderr.decode()[-200:]}")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (tmp_path / "work").mkdir()
    assert follow(CI, tmp_path / "work", skip=installs, path=str(binaries)) > 8
