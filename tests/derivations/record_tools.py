"""A copy of shipped derivations and their records, which a test may alter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boundcheck.proof import derive, discovery, records
from boundcheck.proof.find.record import record_file


@dataclass(frozen=True)
class Shelf:
    """The folder of the copy."""

    path: Path

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text that is in a file once."""
        file = self.path / name
        text = file.read_text()
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old!r}"
        file.write_text(text.replace(old, new))
        forget()

    def read(self, id: str) -> dict[str, Any]:
        """The record of a reading."""
        return json.loads(record_file(self.path, id).read_bytes())

    def write(self, id: str, data: dict[str, Any]) -> None:
        """Put this in the place of the record, as a text editor would."""
        record_file(self.path, id).write_text(json.dumps(data))


def forget() -> None:
    """Read all files again: a process reads each once."""
    for cached in (discovery._module, discovery._written, records.today, records.stamp, records._entries):  # pyright: ignore
        cached.cache_clear()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    """The derivations of SCGD and of textbooks."""
    path = tmp_path / "derivations"
    for paper in ("scgd", "classics"):
        shutil.copytree(discovery.folder() / paper, path / paper, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (discovery, records, derive):
        monkeypatch.setattr(module, "folder", lambda: path)
    forget()
    yield Shelf(path)
    forget()
