"""Where store and cache lie, what they hold, and that only our own folders are emptied."""

import errno
import os
from pathlib import Path

import pytest

from boundcheck.core import places
from boundcheck.errors import BadInput, StoreError


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("BOUNDCHECK_STORE", "BOUNDCHECK_DATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)


def test_default_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.store_place() == tmp_path / ".cache" / "boundcheck" / "store"
    assert places.data_dir() == tmp_path / ".cache" / "boundcheck" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert places.store_place() == tmp_path / "xdg" / "boundcheck" / "store"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert places.store_place() == tmp_path / ".cache" / "boundcheck" / "store"


def test_overriding_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BOUNDCHECK_STORE", "~/runs")
    assert places.store_place() == tmp_path / "runs"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BOUNDCHECK_DATA", "here/../data")
    assert places.data_dir() == tmp_path / "data"
    monkeypatch.setenv("BOUNDCHECK_DATA", "")
    assert places.data_dir() == tmp_path / ".cache" / "boundcheck" / "data"


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(BadInput, match="set BOUNDCHECK_STORE to a folder"):
        places.store_place()


def test_usage_and_emptying(tmp_path: Path) -> None:
    root = tmp_path / "a" / "store"
    place = places.Place(root)
    assert place.usage() == (0, 0)
    assert place.empty() == (0, 0)
    assert not root.exists()
    assert places.prepare(root) == root
    assert place.usage() == (0, 0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "keep").write_bytes(b"1")
    (root / "run").mkdir()
    (root / "run" / "curve").write_bytes(b"12345")
    (root / "note").write_bytes(b"12")
    assert place.usage() == (2, 7)
    (root / "link").symlink_to(outside)
    place.empty()
    assert place.usage() == (0, 0)
    assert sorted(os.listdir(root)) == ["CACHEDIR.TAG"]
    assert (outside / "keep").read_bytes() == b"1"
    assert places.prepare(root) == root


def test_cache_tag_follows_the_specification(tmp_path: Path) -> None:
    places.prepare(tmp_path / "store")
    text = (tmp_path / "store" / "CACHEDIR.TAG").read_text()
    assert text.startswith("Signature: 8a477f597d28d172789f06886806bc55")


def test_other_peoples_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"holds files that boundcheck did not write \(such as 'thesis.tex'\)"):
        places.prepare(tmp_path)
    for path in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(StoreError, match="was not made by boundcheck"):
            places.Place(path).empty()
    with pytest.raises(StoreError, match="is not a folder"):
        places.prepare(tmp_path / "thesis.tex")
    with pytest.raises(StoreError, match="not a directory"):
        places.prepare(tmp_path / "thesis.tex" / "below")
    assert (tmp_path / "thesis.tex").read_text() == "x"
    (tmp_path / "void").mkdir()
    assert places.Place(tmp_path / "void").empty() == (0, 0)


def test_the_marker_of_another_program_is_none(tmp_path: Path) -> None:
    (tmp_path / "CACHEDIR.TAG").write_text(
        "Signature: 8a477f597d28d172789f06886806bc55\n# Written by another program.\n"
    )
    (tmp_path / "build").mkdir()
    with pytest.raises(StoreError, match=r"holds files that boundcheck did not write \(such as 'CACHEDIR.TAG'\)"):
        places.prepare(tmp_path)
    with pytest.raises(StoreError, match="was not made by boundcheck"):
        places.Place(tmp_path).empty()


def test_what_cannot_be_removed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = places.prepare(tmp_path / "store")
    (root / "note").write_bytes(b"12")

    def denied(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "remove", denied)
    with pytest.raises(StoreError, match="store cannot be emptied: permission denied"):
        places.Place(root).empty()


def test_emptying_starts_again_when_a_writer_interferes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = places.prepare(tmp_path / "store")
    (root / "note").write_bytes(b"12")
    remove, calls = os.remove, list[str]()

    def racing(path: str) -> None:
        calls.append(path)
        remove(path)
        if len(calls) == 1:
            (root / "late").write_bytes(b"3")
            raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    monkeypatch.setattr(os, "remove", racing)
    places.Place(root).empty()
    assert places.Place(root).usage() == (0, 0)
    assert len(calls) == 2
