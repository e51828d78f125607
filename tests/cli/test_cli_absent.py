"""A report where data sets and optional packages are not there, and the same bytes with and without a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from cli_tools import FEDAVG, LIMITS, Run, neural

from boundcheck.problems import mnist_5k
from tests.hidden_packages import hide

ABSENT_CLAIM = """
[[claim]]
name = "on images"
statement = "fedshuffle/theorem_5_1_strongly_convex"
problem = { kind = "logistic_regression", data = "mnist", clients = 2 }
method = { kind = "fedshuffle", eta_l = "largest" }
engine = "sampled"
expect = "HOLDS"
"""

ABSENT_LIMITS = LIMITS.replace('kind = "fedshuffle_36"', 'kind = "logistic_regression", data = "mnist"')
ABSENT_TRAINING = """
[[training]]
name = "trained on <images>"
source = "a test"
engine = "sampled"
problem = { kind = "softmax_regression", data = "mnist_5k", clients = 10 }
rounds = 2
points = 2
seeds = 2
compare = { metric = "f" }
methods = [{ label = "FedAvg", method = { kind = "fedavg_rr", eta_l = "1/100" } }]
"""


@pytest.fixture
def plain_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides torch, and the package that ships mnist_5k."""
    hide(monkeypatch, "torch")
    monkeypatch.setattr(mnist_5k, "_installed", lambda: None)
    mnist_5k.load.cache_clear()


def report(run: Run, spec: Path, folder: Path, *more: str) -> tuple[int, Any]:
    found = run("report", spec, "-o", folder, "--workers", "1", *more)
    return found.code, json.loads((folder / "report.json").read_text())


@pytest.mark.usefixtures("plain_install")
def test_what_is_absent_gets_a_page_and_the_rest_is_written(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path
) -> None:
    path = spec(FEDAVG, ABSENT_CLAIM, ABSENT_LIMITS, ABSENT_TRAINING, neural("a network", "cpu"))
    found = boundcheck_cli("report", path, "-o", tmp_path / "out", "--workers", "1")
    assert found.code == 0, found.err
    data = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [c["label"] for c in data["claims"]] == ["one round"]
    missing = {m["name"]: m for m in data["not_run"]}
    commands = {
        "on images": ("claim", "boundcheck data fetch mnist"),
        "Where it ends": ("limits", "boundcheck data fetch mnist"),
        "trained on <images>": ("training", "boundcheck data fetch mnist_5k"),
        "a network": ("training", 'pip install "boundcheck[neural]"'),
    }
    assert set(missing) == set(commands)
    index = (tmp_path / "out" / "index.html").read_text()
    markdown = (tmp_path / "out" / "report.md").read_text()
    assert "## Not run" in markdown
    for name, (kind, command) in commands.items():
        assert missing[name]["kind"] == kind
        assert command in missing[name]["why"]
        assert f"NOT RUN {name}: " in found.out
        page = unescape((tmp_path / "out" / missing[name]["page"]).read_text())
        assert "Not run" in page
        assert command in page
        assert f'href="{missing[name]["page"]}"' in index
    assert "<images>" not in index


@pytest.mark.usefixtures("plain_install")
def test_pages_of_what_was_absent_go_when_it_is_there(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    _, before = report(boundcheck_cli, spec(FEDAVG, ABSENT_CLAIM), folder)
    (page,) = [m["page"] for m in before["not_run"]]
    assert (folder / page).exists()
    report(boundcheck_cli, spec(FEDAVG), folder)
    assert not (folder / page).exists()


@pytest.mark.usefixtures("plain_install")
def test_a_claim_that_is_also_wrong_is_bad_input(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path
) -> None:
    wrong = ABSENT_CLAIM.replace("eta_l =", "eta_k =")
    found = boundcheck_cli("report", spec(FEDAVG, wrong), "-o", tmp_path / "out")
    assert found.code == 2
    assert "eta_k" in found.err
    assert not (tmp_path / "out" / "index.html").exists()


def test_a_report_has_the_same_bytes_with_and_without_a_store(
    boundcheck_cli: Run, spec: Callable[..., Path], tmp_path: Path
) -> None:
    sampled = FEDAVG.replace("one round", "in samples").replace(
        'arithmetic = "rational"', 'engine = "sampled"\nseeds = 4'
    )
    path = spec(FEDAVG, sampled.replace('"HOLDS"', '"UNDECIDED"'))
    written: list[dict[str, bytes]] = []
    for name, more in (("plain", ["--no-store"]), ("stored", []), ("recalled", [])):
        assert report(boundcheck_cli, path, tmp_path / name, *more)[0] == 0
        written.append({p.name: p.read_bytes() for p in (tmp_path / name).iterdir()})
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 9


@pytest.mark.slow
@pytest.mark.usefixtures("plain_install")
def test_the_default_report_of_a_plain_install(boundcheck_cli: Run, tmp_path: Path) -> None:
    found = boundcheck_cli("report", "-o", tmp_path / "out", "--workers", "1")
    assert found.code == 0, found.err
    data = json.loads((tmp_path / "out" / "report.json").read_text())
    assert len(data["claims"]) > 20
    assert data["not_run"]
    ways = ('pip install "boundcheck[neural]"', "boundcheck data fetch mnist_5k")
    assert all(any(way in m["why"] for way in ways) for m in data["not_run"])
