"""The record of the papers' figures and tables, their files, and what decides a finding."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.core.svg import Chart, Line
from boundcheck.errors import BadInput, DataNotFetched, StoreError
from boundcheck.report.figures import charts
from boundcheck.report.write import write_report

FIGURES = Path(__file__).parents[1] / "figures"
# made from exact numbers or from a record; the others take seconds each and are made by the slow test
QUICK = (
    *("async_fl_figure_2", "async_fl_figure_3", "async_fl_figure_4", "async_fl_gantt", "async_fl_table_1"),
    *("async_fl_table_2", "feddane_figure_1", "feddane_figure_2", "feddane_figure_3", "feddane_table_1"),
    *("fedshuffle_table_1", "fedshuffle_table_4", "partial_averaging_figure_1"),
)
SLOW = (
    *("fedshuffle_figure_1", "fedshuffle_figure_4", "partial_averaging_figure_2", "partial_averaging_figure_3"),
    *("scgd_figure_1", "scgd_figure_2"),
)
NUMBERS = {  # of the figures and tables, by the papers' own
    "fedshuffle": {*(f"Figure {k}" for k in range(1, 5)), *(f"Table {k}" for k in range(1, 5))},
    "feddane": {"Figure 1", "Figure 2", "Figure 3", "Table I"},
    "async_fl": {*(f"Figure {k}" for k in range(1, 8)), *(f"Table {k}" for k in range(1, 4))},
    "scgd": {"Figure 1", "Figure 2"},
    "partial_averaging": {*(f"Figure {k}" for k in range(1, 14)), *(f"Table {k}" for k in range(1, 7))},
}
KEYS = {"paper", "number", "shows", "here", "how", "script", "studies", "order", "findings"}


def test_the_record_is_complete_and_its_files_exist(figures: Any) -> None:
    record, entries = figures["_record"], figures["_findings"].entries()
    assert {p: {e["number"] for e in entries if e["paper"] == p} for p in NUMBERS} == NUMBERS
    assert len(entries) == sum(map(len, NUMBERS.values())) == 43
    for entry in entries:
        assert set(entry) <= KEYS
        assert entry["here"] in ("full", "scaled", "absent")
        assert min(len(entry["shows"]), len(entry["how"])) > 5
        assert ("script" in entry or "studies" in entry) == (entry["here"] != "absent")
        assert ("findings" in entry) == ("script" in entry)
        for study in entry.get("studies", []):
            tables = tomllib.loads((record.TRAINED / f"{study['file']}.toml").read_text())["training"]
            (found,) = [t for t in tables if t["name"].startswith(study["table"])]
            assert any(study.get("cases", "") in case["label"] for case in found.get("cases", [{"label": ""}]))
    named = [e["script"] for e in entries if "script" in e]
    assert sorted(named) == sorted({*QUICK, *SLOW})
    # Lemma 2 in numbers, which is no table of the paper
    assert set(figures["_every"].scripts()) - set(named) == {"partial_averaging_table"}


def test_the_page_of_the_repository_is_that_of_the_record(figures: Any) -> None:
    record = figures["_record"]
    known, page = record.known(), record.TABLE.read_text()
    assert page == record.markdown(record.rows(known))
    cells = [cell for line in page.splitlines() if line.startswith("|") for cell in line.split("|")]
    assert max(map(len, cells)) < 200
    expected = {(record.title(e), key) for e in figures["_findings"].entries() for key in e.get("findings", {})}
    assert expected <= {(name, key) for name, found in known.items() for key in found}
    orders = {name: {"order": found["order"]} for name, found in known.items() if "order" in found}
    assert orders == record.trained(), "python figures/_record.py --trained counts them anew"


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_outcomes_are_those_of_the_data(figures: Any, made: Any, name: str) -> None:
    """outcomes.json says of each finding what its figure decides, made anew, and with which numbers; slow: a minute."""
    record = figures["_record"]
    (title,) = (record.title(e) for e in figures["_findings"].entries() if e.get("script") == name)
    found, known = made(name).decisions, record.known()[title]
    assert {key: own.word for key, own in found.items()} == {k: v["word"] for k, v in known.items() if k != "order"}
    if name in QUICK:
        assert all(own.statistic == known[key]["statistic"] for key, own in found.items())


ONE, TEN = np.array([1.0]), 1 + np.arange(10) / 1000


@pytest.mark.parametrize(
    ("pairs", "word"),
    [
        ([(ONE, 2 * ONE)], "undecided"),  # one seed decides nothing
        ([(TEN, 2 * TEN)], "reproduced"),
        ([(2 * TEN, TEN)], "reversed"),
        ([(TEN, TEN[::-1])], "undecided"),
        ([(TEN, 2 * TEN), (2 * TEN, TEN)], "reversed"),
        ([(TEN, 2 * TEN), (TEN, TEN[::-1])], "undecided"),
        ([(np.full(10, np.inf), TEN)], "reversed"),
        ([(1.0, 1.005)], "reproduced"),  # numbers that are certain, with and without a margin and a factor
        ([(1.0, 1.005, 1.0, 0.01)], "undecided"),
        ([(1.005, 1.0, 1.0, 0.001)], "reversed"),
        ([(1.0, 1.5, 2.0)], "reversed"),
        ([(TEN, 1.5 * TEN, 2.0)], "reversed"),
    ],
)
def test_a_finding_is_decided(figures: Any, pairs: list[tuple[Any, ...]], word: str) -> None:
    fd = figures["_findings"]
    found = fd.ordered([fd.Comparison("", *pair) for pair in pairs], ("a", "b"))
    assert found.word == word
    assert (f"[{word}]" in found.statistic) == (len(pairs) > 1 and word != "reproduced")


def test_words_of_several_and_shares(figures: Any) -> None:
    """No failure in 100: the lower limit is the 100th root of 5 %; 59 are the fewest that show a share above 95 %."""
    fd = figures["_findings"]
    word, told = fd.share(100, 100, 0.95)
    assert (word, f"{0.05 ** (1 / 100):.3f}" in told) == ("reproduced", True)
    assert [fd.share(n, of, 0.95)[0] for n, of in ((58, 58), (59, 59), (50, 100), (0, 100))] == [
        *("undecided", "reproduced", "reversed", "reversed"),
    ]
    yes, no = fd.certain(True, "one"), fd.certain(False, "two")
    assert [fd.agreed(a, b).word for a, b in ((yes, yes), (no, no), (yes, no))] == [
        "reproduced",
        "reversed",
        "undecided",
    ]
    assert fd.agreed(yes, no).statistic == "one; two"
    with pytest.raises(ValueError, match="the record states"):
        fd.judged("scgd_figure_1", {"other": yes})


@pytest.mark.parametrize("at", ["1/2", "8", "1/64", "0"])
def test_a_grid_goes_on_until_its_best_lies_inside(figures: Any, at: str) -> None:
    tuned, grid = figures["_recorded"].tuned, [Fraction(v) for v in ("1/4", "1/2", "1")]
    grid += [Fraction(0)] * (at == "0")
    found = tuned(grid, lambda v: abs(float(np.log2(float(v / Fraction(at))))) if at != "0" else float(v))
    assert found.best == Fraction(at)
    assert at == "0" or min(map(Fraction, found.tried)) < found.best < max(map(Fraction, found.tried))
    with pytest.raises(ValueError, match="at the end of the grid"):
        tuned(grid, lambda v: -float(v))


def test_runs_are_kept_one_by_one_and_taken_up_again(figures: Any, tmp_path: Path) -> None:
    recorded = figures["_recorded"]
    asked: list[int] = []

    def compute(seed: int) -> np.ndarray:
        asked.append(seed)
        if seed == 2:
            raise KeyboardInterrupt
        return np.array([1.0, np.inf])

    def at(mode: str) -> Any:
        kept = recorded.Recorded("some", mode, tmp_path)
        return kept, partial(kept.row, {"kind": "p"}, {"kind": "m"}, [0, 1])

    with pytest.raises(KeyboardInterrupt):
        at("extend")[1](range(4), compute)
    again, row = at("extend")
    assert again.known({"kind": "p"}, {"kind": "m"}, [0, 1], [0, 1]) == pytest.approx(np.array([[1.0, np.inf]] * 2))
    assert again.complete({"kind": "p"}, {"kind": "m"}, [0, 1]) == 2
    assert {"command", "code", "versions", "processor_hours"} <= set(again.provenance)
    asked.clear()
    row([0, 1, 3], compute)
    at("read")[1]([0, 1, 3], compute)
    assert asked == [3]
    assert again.words().startswith("Recorded in figures/results/some.json")
    with pytest.raises(recorded.NotRecorded):
        at("read")[1]([4], compute)
    before = again.path.read_bytes()
    assert at("off")[1]([7], compute).tolist() == [[1.0, np.inf]]
    assert again.path.read_bytes() == before


# --- the files --------------------------------------------------------------------------------------------------------


def simple(s: Any, seeds: int = 3) -> Any:
    """A study of one curve."""
    values = np.arange(1.0, 4.0) + np.arange(seeds)[:, None]
    return s.Made(
        s.study("Title", "A caption.", ["A note."], **s.panels("x", [("left", "y", {"a": (range(3), values)})]))
    )


def test_a_script_writes_its_study(figures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    s = figures["_study"]
    made = simple(s)
    (line,) = made.study.series
    assert (line.y, line.low, line.high) == ((2, 3, 4), (1, 2, 3), (3, 4, 5))
    paths = s.write(made, tmp_path / "new", "name")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == [
        f"name.{e}" for e in ("json", "md", "pdf", "png", "svg")
    ]
    assert [p.read_bytes()[:4] for p in paths[:3]] == [b"\x89PNG", b"<svg", b"%PDF"]
    assert (tmp_path / "new" / "name.md").read_text() == (
        "# Title\n\n![Title](name.png)\n\nA caption.\n\n## Beside the paper\n\n- A note.\n"
    )
    facts = json.loads((tmp_path / "new" / "name.json").read_text())
    assert facts == {"schema": 1, "title": "Title", "caption": "A caption.", "findings": [], "notes": ["A note."]}
    again = s.write(simple(s), tmp_path / "again", "name")
    assert [p.read_bytes() for p in again] == [p.read_bytes() for p in paths]
    table = s.Made(s.study("T", "C", tables=s.table("name", {"one": {"b": "1", "c": "no"}})))
    s.write(table, tmp_path, "table")
    assert "| name | b | c |\n| --- | --- | --- |\n| one | 1 | no |\n" in (tmp_path / "table.md").read_text()
    assert json.loads((tmp_path / "table.json").read_text())["rows"] == {"one": {"b": "1", "c": "no"}}


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("FILE", BadInput, "is a file; name a folder"),
        ("FILE/below", StoreError, "cannot be written: not a directory"),
        ("TAKEN", BadInput, r"test_figures.md' is a folder; name a file\."),
        ("/proc/figures", StoreError, "cannot be written"),
        ("", BadInput, "names no folder"),
        ("a\0b", BadInput, "names no folder"),
        ("x" * 300, StoreError, "cannot be written: file name too long"),
    ],
)
def test_a_folder_is_refused_before_anything_is_computed(
    figures: Any, text: str, error: type[Exception], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("FILE").write_text("")
    (tmp_path / "TAKEN" / "test_figures.md").mkdir(parents=True)

    def make() -> Any:
        pytest.fail("it computes")

    with pytest.raises(error, match=sentence):
        figures["_study"].script(make)(["-o", text])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["FILE", "TAKEN"]


def test_options_are_the_parameters_of_a_script(
    figures: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    s = figures["_study"]
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(s, "write", lambda made, folder, name: [folder / f"{name}.png"])

    def make(seeds: int = 3, rounds: int | None = None, full: bool = False, data: str | None = None) -> None:
        asked.append((seeds, rounds, full, data))

    main = s.script(make, seeds=2, rounds=4)
    main(["-o", str(tmp_path)])
    main(["-o", str(tmp_path), "--seeds", "2", "--rounds", "4", "--full", "--data", "mnist"])
    assert asked == [(3, None, False, None), (2, 4, True, "mnist")]
    assert capsys.readouterr().out == f"{tmp_path / 'test_figures.png'}\n" * 2
    for few in (["--seeds", "1"], ["--rounds", "3"]):
        with pytest.raises(SystemExit):
            main(["-o", str(tmp_path), *few])
        assert "at least 2 seeds and 4 rounds are needed." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (DataNotFetched("the data are not here."), 2, "the data are not here."),
        (KeyboardInterrupt(), 130, "interrupted."),
    ],
)
def test_what_boundcheck_refuses_is_a_sentence_of_the_script(
    figures: Any, error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures/some.py"])

    def refuse(_: object) -> None:
        raise error

    with pytest.raises(SystemExit) as stopped:
        figures["_study"].start(refuse)
    assert (stopped.value.code, capsys.readouterr().err) == (code, f"some.py: {told}\n")


def test_panels_with_one_label_have_one_range() -> None:
    """20 has a place on both panels where they are alike; few decades are written as decimals."""
    shown = [
        (title, Chart(title, "", [Line("a", "metric", [1, 2], values)], (False, True), "x", "y"))
        for title, values in (("low", [1.0, 2.0]), ("high", [10.0, 20.0]))
    ]
    counts = [charts(shown, "svg", alike=alike).decode().count(">20</text>") for alike in (False, True)]
    assert counts == [1, 2]


def test_all_are_made_longest_first_and_unknown_ones_refused(figures: Any, tmp_path: Path, capsys: Any) -> None:
    every = figures["_every"]
    names = every.scripts()
    seconds = [getattr(figures[name], "SECONDS", 0) for name in names]
    assert seconds == sorted(seconds, reverse=True)
    assert seconds[0] > 60
    with pytest.raises(SystemExit):
        every.main(["-o", str(tmp_path), "async_fl_gantt", "nothing"])
    assert "there is no figure 'nothing'; known: async_fl_figure_2," in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow  # three processes that draw figures: twenty seconds
def test_two_processes_draw_what_the_scripts_draw(figures: Any, tmp_path: Path) -> None:
    names, alone, out = ("partial_averaging_table", "async_fl_gantt"), tmp_path / "alone", tmp_path / "every"
    for name in names:
        figures[name].main(["-o", str(alone)])
    command = [sys.executable, str(FIGURES / "_every.py"), "-o", str(out), "--workers", "2", *names]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    files = {p.name: p.read_bytes() for p in out.iterdir()}
    assert set(done.stdout.split()) == {str(out / name) for name in files}
    record = {row["name"]: row for row in json.loads(files.pop("record.json"))}
    assert files == {p.name: p.read_bytes() for p in alone.iterdir()}
    assert [f["word"] for f in record["Asynchronous FL, Figure 1"]["findings"]] == ["reproduced", "reproduced"]
    assert len(record) == 43


def test_the_report_shows_the_record(figures: Any, tmp_path: Path) -> None:
    record = figures["_record"]
    rows = record.rows(record.known())
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "record.json").write_text(json.dumps(rows))
    assert tmp_path / "papers.html" in write_report([], tmp_path)
    page, index = (tmp_path / "papers.html").read_text(), (tmp_path / "index.html").read_text()
    assert page.count('<th scope="row"') == 43
    assert f"Of 43, {sum(row['here'] == 'full' for row in rows)} are here at full size" in page
    assert "papers.html" in index
    (tmp_path / "figures" / "record.json").write_text("[1]")
    write_report([], tmp_path)
    assert "papers.html" not in (tmp_path / "index.html").read_text()
