"""The record of the papers' figures and tables: complete, its files there, its words decided on the figures' data."""

from __future__ import annotations

import importlib
import json
import tomllib
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FIGURES = ROOT / "figures"
# drawn from exact numbers or from a record; the others take seconds each and are drawn by the slow test
QUICK = (
    *("async_fl_figure_2", "async_fl_figure_3", "async_fl_figure_4", "async_fl_gantt", "async_fl_table_1"),
    *("feddane_figure_1", "feddane_figure_2", "feddane_figure_3", "feddane_table_1", "fedshuffle_table_1"),
    "partial_averaging_figure_1",
)
SLOW = (
    *("fedshuffle_figure_1", "fedshuffle_figure_4", "partial_averaging_figure_2", "partial_averaging_figure_3"),
    *("scgd_figure_1", "scgd_figure_2"),
)


def test_all_43_are_there(figures: Any) -> None:
    """By the papers' own numbers."""
    entries = figures["_findings"].entries()
    numbers = {
        "fedshuffle": {*(f"Figure {k}" for k in range(1, 5)), *(f"Table {k}" for k in range(1, 5))},
        "feddane": {"Figure 1", "Figure 2", "Figure 3", "Table I"},
        "async_fl": {*(f"Figure {k}" for k in range(1, 8)), *(f"Table {k}" for k in range(1, 4))},
        "scgd": {"Figure 1", "Figure 2"},
        "partial_averaging": {*(f"Figure {k}" for k in range(1, 14)), *(f"Table {k}" for k in range(1, 7))},
    }
    assert {p: {e["number"] for e in entries if e["paper"] == p} for p in numbers} == numbers
    assert len(entries) == sum(map(len, numbers.values())) == 43


def test_entries_are_complete_and_their_files_exist(figures: Any) -> None:
    record = figures["_record"]
    for entry in figures["_findings"].entries():
        assert set(entry) <= {
            "paper",
            "number",
            "shows",
            "here",
            "how",
            "script",
            "picture",
            "studies",
            "order",
            "findings",
        }
        assert entry["here"] in ("full", "scaled", "absent")
        assert min(len(entry["shows"]), len(entry["how"])) > 5
        assert ("script" in entry or "studies" in entry) == (entry["here"] != "absent")
        assert ("findings" in entry) == ("script" in entry)
        if "script" in entry:
            assert (FIGURES / f"{entry['script']}.py").is_file()
        for study in entry.get("studies", []):
            tables = tomllib.loads((record.TRAINED / f"{study['file']}.toml").read_text())["training"]
            found = [t for t in tables if t["name"].startswith(study["table"])]
            assert len(found) == 1, study
            labels = [case["label"] for case in found[0].get("cases", [{"label": ""}])]
            assert any(study.get("cases", "") in label for label in labels)


def test_every_script_but_one_is_in_the_record(figures: Any) -> None:
    scripts = {path.stem for path in FIGURES.glob("[!_]*.py")}
    named = {e["script"] for e in figures["_findings"].entries() if "script" in e}
    assert scripts - named == {"partial_averaging_table"}  # Lemma 2 in numbers, which is no table of the paper
    assert {*QUICK, *SLOW} == named


def words(record: ModuleType, folder: Path) -> dict[tuple[str, str], str]:
    return {(name, key): own["word"] for name, found in record.decided(folder).items() for key, own in found.items()}


def same_as_recorded(record: ModuleType, folder: Path) -> int:
    decided = words(record, folder)
    known = {(name, key): own["word"] for name, found in record.known().items() for key, own in found.items()}
    assert {at: known.get(at) for at in decided} == decided
    return len(decided)


def test_words_are_those_of_the_data(figures: Any, made: Any) -> None:
    """outcomes.json says of each finding what its figure decides, drawn anew."""
    for name in QUICK:
        made(name)
    assert same_as_recorded(figures["_record"], made.shared) >= 30


@pytest.mark.slow  # a minute of runs at the paper's size
def test_words_of_long_figures_are_those_of_the_data(figures: Any, tmp_path: Path) -> None:
    for name in SLOW:
        figures[name].main(["-o", str(tmp_path)])
    assert same_as_recorded(figures["_record"], tmp_path) >= 15


def test_the_table_of_the_repository_is_that_of_the_record(figures: Any) -> None:
    record = figures["_record"]
    known = record.known()
    assert record.TABLE.read_text() == record.markdown(record.rows(known))
    expected = {(record.title(e), key) for e in figures["_findings"].entries() for key in e.get("findings", {})}
    assert expected <= {(name, key) for name, found in known.items() for key in found}
    for found in known.values():
        assert all(own["word"] in figures["_findings"].OUTCOMES and own["statistic"] for own in found.values())


def test_orders_of_recorded_trainings_are_counted_from_their_files(figures: Any) -> None:
    record = figures["_record"]
    trained = record.trained()
    known = {name: {"order": found["order"]} for name, found in record.known().items() if "order" in found}
    assert known == trained, "python figures/_record.py --trained counts them anew"


def test_a_decision_needs_more_than_one_seed(figures: Any) -> None:
    fd = figures["_findings"]
    one, ten = np.array([1.0]), 1 + np.arange(10) / 1000
    assert fd.ordered([fd.Comparison("", one, 2 * one)]).word == "undecided"
    assert fd.ordered([fd.Comparison("", ten, 2 * ten)]).word == "reproduced"
    assert fd.ordered([fd.Comparison("", 2 * ten, ten)]).word == "reversed"
    assert fd.ordered([fd.Comparison("", ten, ten[::-1])]).word == "undecided"
    assert fd.ordered([fd.Comparison("", ten, 2 * ten), fd.Comparison("", 2 * ten, ten)]).word == "reversed"
    assert fd.ordered([fd.Comparison("", np.full(10, np.inf), ten)]).word == "reversed"
    # numbers that are certain, with and without a margin
    assert fd.ordered([fd.Comparison("", 1.0, 1.005)]).word == "reproduced"
    assert fd.ordered([fd.Comparison("", 1.0, 1.005, margin=0.01)]).word == "undecided"
    assert fd.ordered([fd.Comparison("", 1.0, 1.5, factor=2)]).word == "reversed"


def test_shares_have_exact_limits(figures: Any) -> None:
    """No failure in 100: the lower limit is the 100th root of 5 %; 59 are the fewest that show a share above 95 %."""
    fd = figures["_findings"]
    assert fd.share(100, 100, 0.95) == ("reproduced", fd.share(100, 100, 0.95)[1])
    assert f"{0.05 ** (1 / 100):.3f}" in fd.share(100, 100, 0.95)[1]
    assert [fd.share(n, n, 0.95)[0] for n in (58, 59)] == ["undecided", "reproduced"]
    assert fd.share(50, 100, 0.95)[0] == "reversed"


def test_findings_that_the_record_does_not_state_are_refused(figures: Any) -> None:
    fd = figures["_findings"]
    with pytest.raises(ValueError, match="the record states"):
        fd.judged("scgd", "Figure 1", {"other": fd.Decision("reproduced", "")})


def test_a_grid_goes_on_until_its_best_lies_inside() -> None:
    common = importlib.import_module("_common")
    from fractions import Fraction

    grid = [Fraction(1, 4), Fraction(1, 2), Fraction(1)]
    for at in (Fraction(1, 2), Fraction(8), Fraction(1, 64)):
        best, tried = common.tuned(grid, lambda v, at=at: abs(float(np.log2(float(v / at)))))
        assert best == at
        assert min(map(Fraction, tried)) < at < max(map(Fraction, tried))
    with pytest.raises(ValueError, match="at the end of the grid"):
        common.tuned(grid, lambda v: -float(v))


def test_the_report_shows_the_record(figures: Any, tmp_path: Path) -> None:
    from boundcheck.report.write import write_report

    record = figures["_record"]
    rows = record.rows(record.known())
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "record.json").write_text(json.dumps(rows))
    assert tmp_path / "papers.html" in write_report([], tmp_path)
    page, index = (tmp_path / "papers.html").read_text(), (tmp_path / "index.html").read_text()
    assert page.count('<th scope="row"') == 43
    counts = Counter(row["here"] for row in rows)
    assert f"Of 43, {counts['full']} are here at full size" in page
    assert "papers.html" in index
    (tmp_path / "figures" / "record.json").write_text("[1]")
    write_report([], tmp_path)
    assert "papers.html" not in (tmp_path / "index.html").read_text()
