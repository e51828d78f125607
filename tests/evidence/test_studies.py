"""Tables of studies: read, carried out, and written as a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from boundcheck.errors import SpecError
from boundcheck.evidence.studies import carry_out_study, load_studies
from boundcheck.report import write_report

SPEC = """schema = 1
[[methods_compared]]
name = "Two methods on the example"
problem = { kind = "fedshuffle_36" }
target = "1/10"
methods = [
    { kind = "fedshuffle", eta_l = "largest", E = 1 },
    { kind = "gradient_descent", eta = "largest" },
]
statements = ["fedshuffle/theorem_5_1_strongly_convex", "scgd/fedavg_full_participation"]
"""


def _write(folder: Path, text: str) -> Path:
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def test_methods_are_compared_and_what_does_not_apply_says_why(tmp_path: Path) -> None:
    (asked,) = load_studies(_write(tmp_path, SPEC))
    study = carry_out_study(asked)
    promised, refused = study.tables
    ((method, name, _, _, promise, really, ratio),) = promised.rows
    assert (method, name) == ("fedshuffle", "fedshuffle/theorem_5_1_strongly_convex/corrected")
    assert int(promise) > int(really) > 0
    assert float(ratio) == pytest.approx(int(promise) / int(really), rel=1e-3)
    assert [why for _, _, why in refused.rows] == ["no statement of those compared is about this method"]
    paths = write_report([], tmp_path / "report", studies=[study])
    page = next(p for p in paths if p.name.startswith("study-"))
    assert promise in page.read_text()
    data = json.loads((tmp_path / "report" / "report.json").read_text())
    assert data["studies"][0]["data"]["rows"][0]["promised"] == int(promise)
    assert page.name in (tmp_path / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    ("most", "step", "cells"),
    [(9, '"largest"', "11, 10 to 11, 1 to 1.1"), (99, '"largest"', "11, 11, 1"), (99, "1", "10, 10, 1")],
)
def test_ties_are_decided_or_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, step: str, cells: str
) -> None:
    """At the step 1 - 10^-12 bound and metric are both (1 + 10^-24) times the target after 10 rounds."""
    monkeypatch.setattr("boundcheck.evidence.rounds_to_target.MOST_EXACT", most)
    tie = SPEC.replace('"fedshuffle_36"', '"fedshuffle_36", sizes = [2, 2, 2]').replace(
        'eta = "largest"', f"eta = {step}"
    )
    tie = tie.replace("scgd/fedavg_full_participation", "classics/gradient_descent_nonconvex/sharp")
    rows = carry_out_study(load_studies(_write(tmp_path, tie))[0]).tables[0].rows
    assert [", ".join(row[4:]) for row in rows if row[0] == "gradient_descent"] == [cells]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('target = "1/10"', 'target = "2"', "between 0 and 1"),
        ("fedshuffle_36", "fedshuffle_37", "fedshuffle_37"),
        ('kind = "gradient_descent"', 'kind = "descent"', "descent"),
        ('"scgd/fedavg_full_participation"', '"scgd/theorem_9"', "theorem_9"),
        ('name = "Two', 'title = "Two', "title"),
        ("[[methods_compared]]", "[methods_compared]", "must be [[methods_compared]] tables"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, old: str, new: str, what: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_studies(_write(tmp_path, SPEC.replace(old, new)))
    assert what in str(caught.value)


def test_a_file_without_studies_has_none(tmp_path: Path) -> None:
    assert load_studies(_write(tmp_path, "schema = 1\n")) == []
