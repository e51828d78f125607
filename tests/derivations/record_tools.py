"""A copy of the shipped derivations and their records, which a test may alter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from boundcheck.proof import discovery, records, sources


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

    def entry(self, id: str) -> dict[str, Any]:
        """What the file of records has of a reading."""
        name, _, reading = id.rpartition("/")
        return json.loads((self.path / f"{name}.json").read_bytes())["readings"][reading]

    def alter(self, id: str, entry: Mapping[str, Any]) -> None:
        """Put this in the place of what the file has, as a text editor would."""
        name, _, reading = id.rpartition("/")
        file = self.path / f"{name}.json"
        content = json.loads(file.read_bytes())
        content["readings"][reading] = dict(entry)
        file.write_text(json.dumps(content))

    def plant(self, id: str, status: str = "PROVED", failing: Mapping[str, str] | None = None) -> None:
        """A record with this status and a digest that fits, as a check would leave it."""
        paper, name, reading = id.split("/")
        file = self.path / paper / f"{name}.py"
        if not file.exists():
            file.write_text(f"READINGS = ({reading!r},)\n")
        steps = dict(failing or {})
        counts = {"PROVED": 1, **{s: list(steps.values()).count(s) for s in steps.values()}}
        content = {"status": status, "counts": counts, "failing": steps, "transcribed": {"metric": 1}, "cites": []}
        records.write_record(paper, name, {reading: content})


def forget() -> None:
    """Read all files again: a process reads each once."""
    for cached in (discovery._module, discovery._written, sources._source, sources._package, sources._statement):
        cached.cache_clear()
    sources._known.cache_clear()


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "derivations"
    shutil.copytree(discovery.folder(), path, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (discovery, records, sources):
        monkeypatch.setattr(module, "folder", lambda: path)
    forget()
    yield Shelf(path)
    forget()
