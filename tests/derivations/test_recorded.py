"""What is recorded beside each derivation is what a fresh check finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from boundcheck.proof.discovery import derivation, derived_readings, folder, recorded

CASES = [
    (path.parent.name, path.stem, reading)
    for path in sorted(folder().rglob("*.py"))
    for reading in derived_readings(path.parent.name, path.stem)
]


def test_there_are_derivations_and_no_stale_records() -> None:
    assert len(CASES) >= 9
    for path in folder().rglob("*.json"):
        assert set(recorded(path.parent.name, path.stem)) == set(derived_readings(path.parent.name, path.stem))
    assert all(Path(folder() / p / f"{n}.json").is_file() for p, n, _ in CASES)


@pytest.mark.parametrize(("paper", "name", "reading"), CASES)
def test_record_is_fresh(paper: str, name: str, reading: str) -> None:
    assert dict(recorded(paper, name)[reading]) == derivation(f"{paper}/{name}/{reading}").check().summary()
