"""The guide to derivations works to the letter: its files are written, its commands run, their output compared."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.documents import follow, programs

ROOT = Path(__file__).parents[2]


@pytest.mark.slow  # 5 s: a copy of the checkout, and a process for each command
def test_a_lemma_of_your_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a copy of the checkout, since the guide adds files to it."""
    for name in ("boundcheck", "derivations"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "120")
    done = follow(ROOT / "derivations" / "README.md", tmp_path, lambda command: False, path=programs(tmp_path))
    assert done.ran == 7
    assert (done.slow, done.not_run) == (0, 0)
