"""Running commands in this process, with a store and a data cache of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boundcheck.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Answer]


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))


@pytest.fixture
def boundcheck_cli(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str | Path) -> Answer:
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return run


FEDAVG = """
[[claim]]
name = "one round"
statement = "scgd/example_app_c_fedavg/as_printed"
problem = { kind = "scgd_appendix_c" }
method = { kind = "fedavg", E = 2, eta = "1/10" }
arithmetic = "rational"
expect = "HOLDS"
"""

OUT = """
[[claim]]
name = "outside"
statement = "scgd/theorem_3_3"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 2, eta = 0.1 }
at = { K = [1, 2] }
expect = "OUT_OF_SCOPE"
"""

FALSE = """
[[claim]]
name = "false"
statement = "scgd/example_app_c_scgd/as_printed"
problem = { kind = "scgd_appendix_c" }
method = { kind = "scgd", E = 3, eta = "1/10" }
arithmetic = "rational"
expect = "HOLDS"
"""


@pytest.fixture
def spec(tmp_path: Path) -> Callable[..., Path]:
    """Writes a specification made of claims."""

    def write(*claims: str, name: str = "claims.toml") -> Path:
        path = tmp_path / name
        path.write_text("\n".join(claims))
        return path

    return write
