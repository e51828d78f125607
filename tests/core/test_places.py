"""Where store and cache lie, what they hold, and that only our own folders are emptied."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from boundcheck.core import places
from boundcheck.core.places import MARKER, Place
from boundcheck.errors import BadInput, StoreError


@pytest.mark.parametrize(
    ("variables", "found", "expected"),
    [
        ({}, places.store_place, "~/.cache/boundcheck/store"),
        ({}, places.data_dir, "~/.cache/boundcheck/data"),
        ({"XDG_CACHE_HOME": "~/xdg"}, places.store_place, "~/xdg/boundcheck/store"),
        ({"XDG_CACHE_HOME": "relative"}, places.store_place, "~/.cache/boundcheck/store"),
        ({"BOUNDCHECK_STORE": "~/runs"}, places.store_place, "~/runs"),
        ({"BOUNDCHECK_DATA": "here/../data"}, places.data_dir, "~/data"),
        ({"BOUNDCHECK_DATA": ""}, places.data_dir, "~/.cache/boundcheck/data"),
    ],
)
def test_places(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str], found: Callable[[], Any], expected: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("BOUNDCHECK_STORE", "BOUNDCHECK_DATA", "XDG_CACHE_HOME"):
        value = variables.get(name, "")
        monkeypatch.setenv(name, value.replace("~", str(tmp_path)) if name == "XDG_CACHE_HOME" else value)
    assert str(found()) == expected.replace("~", str(tmp_path))


def test_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("BOUNDCHECK_STORE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(BadInput, match="set BOUNDCHECK_STORE to a folder"):
        places.store_place()


def test_usage_and_emptying(tmp_path: Path) -> None:
    """A link is removed and not followed; the marker, which other programs know, stays."""
    root, outside = tmp_path / "a" / "store", tmp_path / "outside"
    place = Place(root)
    assert (place.usage(), place.empty(), root.exists()) == ((0, 0), (0, 0), False)
    assert places.prepare(root) == root
    assert place.usage() == (0, 0)
    for path, content in ((outside / "keep", b"1"), (root / "run" / "curve", b"12345"), (root / "note", b"12")):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    assert place.usage() == (2, 7)
    (root / "link").symlink_to(outside)
    place.empty()
    assert (place.usage(), os.listdir(root), (outside / "keep").read_bytes()) == ((0, 0), [MARKER], b"1")
    assert places.prepare(root) == root
    assert (root / MARKER).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")


@pytest.mark.parametrize("name", ["thesis.tex", MARKER])
def test_places_of_somebody_else_are_left_alone(place: str, name: str) -> None:
    """Also those with the marker of another program."""
    files = Place(place)
    files.write(name, b"Signature: 8a477f597d28d172789f06886806bc55\n# Written by another program.\n")
    files.write("build", b"x")
    with pytest.raises(StoreError, match=r"holds files that boundcheck did not write \(such as '"):
        files.prepare()
    with pytest.raises(StoreError, match=rf"was not made by boundcheck \(it has no file {MARKER}\)"):
        files.empty()
    assert files.read("build") == b"x"


def test_what_is_no_folder_is_no_place(tmp_path: Path) -> None:
    path = tmp_path / "thesis.tex"
    path.write_text("x")
    for target, message in ((path, "is not a folder"), (path / "below", "not a directory")):
        with pytest.raises(StoreError, match=message):
            places.prepare(target)
    with pytest.raises(StoreError, match="was not made by boundcheck"):
        Place(path).empty()
    (tmp_path / "void").mkdir()
    assert Place(tmp_path / "void").empty() == (0, 0)


def test_emptying_starts_again_when_a_writer_interferes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And says what cannot be removed."""
    root = places.prepare(tmp_path / "store")
    (root / "note").write_bytes(b"12")
    remove, calls = os.remove, list[str]()

    def racing(path: str) -> None:
        calls.append(path)
        remove(path)
        if len(calls) == 1:
            (root / "late").write_bytes(b"3")
            raise FileNotFoundError(errno.ENOENT, "gone", str(path))

    def denied(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(os, "remove", racing)
    Place(root).empty()
    assert (Place(root).usage(), len(calls)) == ((0, 0), 2)
    (root / "note").write_bytes(b"12")
    monkeypatch.setattr(os, "remove", denied)
    with pytest.raises(StoreError, match="store cannot be emptied: permission denied"):
        Place(root).empty()
