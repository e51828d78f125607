"""The page of a table of trained methods: panels with bands, the paper's numbers, equal bytes for equal runs."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from boundcheck.cli import main
from boundcheck.evidence.studies import Panel, Series, Study, StudyTable
from boundcheck.report import write_report

SPEC = """schema = 1
[[training]]
name = "Two methods on digits"
source = "a test"
problem = { kind = "neural", data = "digits", model = "softmax", clients = 3, samples = 40, test_samples = 20 }
rounds = 2
points = 2
seeds = 2
compare = { metric = "accuracy", best = "highest" }
cases = [
  { label = "small step", method = { eta_l = "1/100" }, paper = { FedAvg = "50.29 ± 0.31", FedAvgMin = "48.49" } },
  { label = "large step", method = { eta_l = "1/10" }, paper = { FedAvg = "61", FedAvgMin = "60" } },
]
expected_order = ["FedAvg", "FedAvgMin"]
methods = [
  { label = "FedAvg", method = { kind = "fedavg_rr", batch = 4 } },
  { label = "FedAvgMin", method = { kind = "fedavg_min", batch = 4, sampling = "reshuffled" } },
]
scaled = ["Clients: 3 (paper: 500)."]
"""


def test_the_command_writes_the_page_and_a_second_time_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC)
    arguments = ["report", str(spec), "--workers", "1", "-o"]
    assert main([*arguments, str(tmp_path / "one")]) == 0
    page = (tmp_path / "one" / "study-two-methods-on-digits.html").read_text()
    for words in ("50.29 ± 0.31", "FedAvg before FedAvgMin", "Clients: 3 (paper: 500)."):
        assert words in page
    assert len(re.findall(r'<svg xmlns="[^"]*" class="plot"', page)) == 2
    runs = list((tmp_path / "store").glob("*.npz"))
    assert len(runs) == 5  # and the study, which is put together anew
    about = {run: zipfile.ZipFile(run).read("about.json") for run in runs}
    (study,) = [run for run in runs if b'"asked"' in about[run]]
    study.unlink()
    assert main([*arguments, str(tmp_path / "two")]) == 0
    for name in ("study-two-methods-on-digits.html", "report.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_panels_have_titles_bands_and_one_legend(tmp_path: Path) -> None:
    """And a curve that diverged is drawn as far as it goes."""
    inf = float("inf")
    series = [
        Series(f"method {k % 2}", (0.0, 1.0), (2.0, 1.0), low=(1.5, 0.5), high=(2.5, 1.5), panel=k // 2)
        for k in range(4)
    ]
    series.append(Series("gone", (0.0, 1.0, 2.0), (1.0, inf, inf), low=(1.0, inf, inf), high=(1.0, inf, inf)))
    panels = (Panel("first case", "loss", True), Panel("second case", "accuracy"))
    table = StudyTable("Numbers", ("method", "value"), (("method 0", "1"),), (1,))
    axes = ("rounds", "")
    study = Study("training", "Panels", ("words",), (table,), tuple(series), axes, (False, False), panels=panels)
    write_report([], tmp_path, studies=[study])
    page = (tmp_path / "study-panels.html").read_text()
    for text in ("first case", "second case", "accuracy", "loss"):
        assert text in page
    assert page.count('<ul class="legend">') == 1  # one legend for both panels
    assert len(re.findall(r'<path class="band" [^>]*d="M[0-9]', page)) == 4  # one point is no band
    data = json.loads((tmp_path / "report.json").read_text())["studies"][0]
    assert [p["title"] for p in data["panels"]] == ["first case", "second case"]
    assert data["series"][2]["panel"] == 1
    assert data["series"][0]["low"] == [1.5, 0.5]
    assert data["series"][4]["y"] == [1.0, "inf", "inf"]
