# pyright: reportPrivateUsage=false
"""The index: entries are found again on the same bytes only, and never needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from boundcheck.core import index

Asked = Callable[[str, dict[str, Any] | None], bool]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in the place of the package, in a process that has imported no statement."""
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "theorem.py").write_text("1")
    monkeypatch.setattr(index, "_own_roots", lambda: [("root", folder)])
    monkeypatch.setitem(index._state, "fresh", True)
    monkeypatch.setenv("BOUNDCHECK_INDEX", str(tmp_path / "index"))
    yield folder
    index.digest.cache_clear()


@pytest.fixture
def made(root: Path) -> Asked:
    """Whether an entry had to be made, which is checked."""

    def ask(name: str, answer: dict[str, Any] | None) -> bool:
        calls: list[str] = []

        def make() -> dict[str, Any] | None:
            calls.append(name)
            return answer

        index.digest.cache_clear()
        assert index.kept(name, make) == answer
        return bool(calls)

    return ask


def test_kept_on_the_same_bytes_only(root: Path, made: Asked) -> None:
    assert made("a", {"x": 1})
    assert not made("a", {"x": 1})
    assert made("b", {"x": 2})
    (root / "theorem.py").write_text("2")
    assert made("a", {"x": 3})
    (root / "theorem.py").write_text("1")
    assert not made("a", {"x": 1})
    (root / "definitions.json").write_text("{}")
    assert made("a", {"x": 4})


def test_none_is_not_kept_and_damage_is_made_again(made: Asked, tmp_path: Path) -> None:
    assert made("a", None)
    assert made("a", {"x": 1})
    for path in (tmp_path / "index").glob("*/*.json"):
        path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    assert made("a", {"x": 1})
    assert not made("a", {"x": 1})


def test_entries_that_were_shipped_are_found_wherever_the_package_lies(
    made: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = str(index.PACKAGE.parent / "examples" / "x.toml")
    assert made("a", {"file": place})
    assert not any(str(index.PACKAGE.parent).encode() in p.read_bytes() for p in (tmp_path / "index").glob("*/*.json"))
    os.rename(tmp_path / "index", tmp_path / "shipped")
    monkeypatch.setattr(index, "SHIPPED", tmp_path / "shipped")
    assert not made("a", {"file": place})
    assert not (tmp_path / "index").exists()


def test_a_folder_of_somebody_else_keeps_nothing(made: Asked, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "letter.txt").write_text("mine")
    assert made("a", {"x": 1})
    assert made("a", {"x": 1})
    assert os.listdir(tmp_path / "index") == ["letter.txt"]


def test_only_the_latest_states_stay(root: Path, made: Asked, tmp_path: Path) -> None:
    for number in range(index.STATES + 3):
        (root / "theorem.py").write_text(f"state {number}")
        assert made("a", {"x": number})
    assert sum(p.is_dir() and p.name[0] != "." for p in (tmp_path / "index").iterdir()) == index.STATES
    assert not made("a", {"x": index.STATES + 2})


def test_plug_ins_have_a_digest_of_their_own(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index.digest.cache_clear()
    plain = index.digest(plugins=True)
    assert plain == index.digest()
    monkeypatch.setattr(index, "_plugin_roots", lambda: [("theirs", root)])
    index.digest.cache_clear()
    assert index.digest(plugins=True) != plain == index.digest()
