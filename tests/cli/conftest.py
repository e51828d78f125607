"""Running commands in this process, with a store and a data cache of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_tools import Answer, Run

from boundcheck.cli import main


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("BOUNDCHECK_INDEX", str(tmp_path / "index"))


@pytest.fixture
def boundcheck_cli(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str | Path) -> Answer:
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Path]:
    """Writes a specification made of claims."""

    def write(*claims: str, name: str = "claims.toml") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(claims))
        return path

    return write
