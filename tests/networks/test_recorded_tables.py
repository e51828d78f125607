"""Recorded tables of training: what a file holds, what is refused, that a row run again agrees, what a page says."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.cli import main
from boundcheck.cli.reports import record_file
from boundcheck.errors import DataNotFetched
from boundcheck.evidence.shipped_files import shipped_records
from boundcheck.networks.study import Spec, study
from boundcheck.networks.study.record import read, recorded_study, run_again, summary_row, summary_study, text_of
from boundcheck.networks.study.runs import Runs
from boundcheck.problems._own_data import load_specification

CONFIGS = Path(__file__).resolve().parents[2] / "configs" / "neural"
SPEC = """schema = 1
[[training]]
name = "Two step sizes"
source = "a test"
engine = "sampled"
problem = { kind = "least_squares", data = "diabetes", clients = 3, split = "random", seed = 0 }
points = 3
seeds = 4
compare = { metric = "gap" }
expected_order = ["larger step", "smaller step"]
tuning = { seeds = 1 }
methods = [
  { label = "larger step", method = { kind = "fedavg_rr", batch = 20 }, grid = { eta_l = ["1/10", "1/100000"] } },
  { label = "smaller step", method = { kind = "fedavg_rr", batch = 20, eta_l = "1/50" } },
]
cases = [{ label = "2 rounds", rounds = 2 }, { label = "5 rounds", rounds = 5 }]
"""


@pytest.fixture(scope="module")
def spec_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spec") / "spec.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def file(spec_file: Path) -> Path:
    """The record of both rows."""
    assert main(["record", str(spec_file), "-o", str(spec_file.parent / "recorded"), "--no-store"]) == 0
    return spec_file.parent / "recorded" / "two-step-sizes.json"


def changed(file: Path, to: Path, *keys: Any, value: Any) -> Path:
    """The file with another value at a path of keys; "+": at the end of a list; a function: of the present value."""
    data: Any = json.loads(file.read_text())
    at = data
    for key in keys[:-1]:
        at = at[key]
    if keys[-1] == "+":
        at.append(value)
    else:
        at[keys[-1]] = value(at[keys[-1]]) if callable(value) else value
    to.write_text(json.dumps(data))
    return to


def test_recording_shows_how_much_is_done(spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, and within a row the runs: two settings tried and the chosen ones of two methods are 4 runs."""
    shown: list[float] = []
    titles: list[tuple[str, float]] = []

    @contextlib.contextmanager
    def noted(title: str, total: float = 1.0) -> Generator[Callable[[float], None]]:
        titles.append((title, total))
        yield shown.append

    monkeypatch.setattr("boundcheck.cli.reports.progress", noted)
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    command = ["record", str(spec_file), "-o", str(tmp_path)]
    assert main(command) == 0
    assert titles == [("table Two step sizes", 2.0)]
    assert shown == [0, 0.25, 0.5, 0.75, 1, 1, 1.25, 1.5, 1.75, 2]
    shown.clear()
    assert main(command) == 0  # both rows are there
    assert shown == [1, 2]


def test_a_record_shows_what_new_runs_show(file: Path, spec_file: Path) -> None:
    record = read(file)
    assert text_of(record) == file.read_text()
    fresh = study(Spec.model_validate(load_specification(spec_file).data["training"][0]))
    shown = recorded_study(record, file)
    assert shown.tables == fresh.tables
    assert shown.words[1:] == fresh.words
    assert (shown.kind, shown.name) == ("recorded", "Recorded: Two step sizes")
    said = f"RECORDED, not run for this report: on {record.recorded}, in "
    for words in (said, record.code[:12], "is that of the code here", f"record {file.name} --compare --row '2 rounds'"):
        assert words in shown.words[0]
    assert record.command not in shown.words[0]  # it names a file that an installed package lacks
    for new, old in zip(fresh.series, shown.series, strict=True):
        np.testing.assert_allclose(old.y, new.y, rtol=1e-8)
    assert [row.case for row in record.rows] == ["2 rounds", "5 rounds"]
    assert all(row.processor_hours > 0 for row in record.rows)
    assert set(record.versions) == {"boundcheck", "numpy", "numba", "scipy", "torch", "python", "processor"}
    row = summary_row(record)
    assert (row["rows"], row["version"]) == ("2 of 2", record.versions["boundcheck"])
    assert [row[n] for n in ("seeds", "rankings", "reproduced", "reversed", "undecided")] == ["4", "2", "2", "0", "0"]


def test_a_row_run_again_agrees(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "--compare", str(file), "--row", "5 rounds", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["compared"]
    assert (found["agrees"], found["differs"]) == (True, [])
    assert [n["outcome"] for n in found["numbers"]] == ["the same"] * 2
    assert main(["record", "--compare", str(file)]) == 0
    assert "the row '2 rounds' agrees." in capsys.readouterr().out


def test_other_numbers_do_not_agree(file: Path, tmp_path: Path) -> None:
    """Only other code or versions allow the interval in the place of the number."""
    half = run_again(read(file), "2 rounds")["numbers"][0]["half_width"]
    ends = ("rows", 0, "runs", 0, "samples", "gap")

    def moved(by: float) -> Callable[[Any], Any]:
        return lambda seeds: [[*own[:-1], own[-1] + by] for own in seeds]

    near = changed(file, tmp_path / "a.json", *ends, value=moved(half / 2))
    assert main(["record", "--compare", str(near)]) == 1
    by_other_code = changed(near, tmp_path / "b.json", "code", value="0" * 64)
    assert main(["record", "--compare", str(by_other_code)]) == 0
    far = changed(file, tmp_path / "c.json", *ends, value=moved(2 * half))
    assert main(["record", "--compare", str(changed(far, far, "versions", "numpy", value="0.1"))]) == 1
    found = run_again(read(by_other_code), None)
    assert found["differs"] == ["the code"]
    assert [one["outcome"] for one in found["numbers"]] == ["within the interval", "the same"]
    assert "no longer fits: the code has changed since" in recorded_study(read(by_other_code), file).words[0]


def test_diverged_runs_are_kept_as_text(file: Path, tmp_path: Path) -> None:
    keys = ("rows", 0, "runs", 1, "samples", "gap", 2, 1)
    record = read(changed(file, tmp_path / "d.json", *keys, value="inf"))
    assert record.rows[0].runs[1].samples["gap"][2][1] == float("inf")
    (tmp_path / "e.json").write_text(text_of(record))
    assert '"inf"' in text_of(record)
    assert read(tmp_path / "e.json") == record


RUN = ("rows", 0, "runs", 0)


@pytest.mark.parametrize(
    ("keys", "value", "said"),
    [
        (("kind",), "witness", "is no record of training"),
        (("schema",), 2, "at schema: Input should be 1"),
        (("recorded",), "yesterday", "at recorded"),
        (("code",), "abc", "at code"),
        (("modules",), ["os.path"], "at modules.0"),
        (("more",), 1, "at more"),
        (("rows",), [], "no rows"),
        (("rows",), lambda rows: rows[:1] * 2, "a row twice"),
        (("rows", 0, "case"), "9 rounds", "the row '9 rounds'"),
        (("rows", 0, "processor_hours"), -1, "at rows.0.processor_hours"),
        ((*RUN, "method"), "other", "does not have the methods of its table"),
        ((*RUN, "tried"), {"eta_l": "7"}, "that the table does not try"),
        ((*RUN, "samples"), {"f": [[1.0]]}, "does not hold gap of 'larger step'"),
        ((*RUN, "samples", "gap", 0, 0), "ten", "at rows.0.runs.0.samples"),
        ((*RUN, "x"), [0.0, 2.0, 1.0], "increasing"),
        (("table", "seeds"), 5, "5 seeds"),
        (("table", "methods"), [], "at methods"),
        (("table", "methods", 0, "method", "kind"), "magic", "'magic' is unknown"),
    ],
)
def test_malformed_and_foreign_files_are_refused_in_a_sentence(
    keys: Any, value: Any, said: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = changed(file, tmp_path / "x.json", *keys, value=value)
    for command in (["record", "--compare", str(path)], ["report", str(path), "-o", str(tmp_path / "report")]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert said in told
        assert str(path) in told
        assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize("content", [None, "", "[" * 100_000, "[]", "{}"])
def test_files_that_hold_something_else_are_refused_and_kept(
    content: str | None, spec_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "two-step-sizes.json"
    if content is not None:
        path.write_text(content)
        assert main(["record", str(spec_file), "-o", str(tmp_path)]) == 2
        assert path.read_text() == content
    assert main(["record", "--compare", str(path)]) == 2
    assert ("cannot be read" if content is None else "is no record of training") in capsys.readouterr().err


def test_wrong_rows_and_tables_are_refused(
    file: Path, spec_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = tmp_path / "claims.toml"
    claims.write_text("schema = 1\n")
    for command, said in (
        (["--compare", str(file), "--row", "3 rounds"], "the row '3 rounds' is unknown; did you mean '5 rounds'"),
        ([str(spec_file), "--table", "Three"], "the table 'Three'"),
        ([str(spec_file), "--row", "x"], "the row 'x'"),
        ([str(claims)], "has no [[training]] table to record"),
    ):
        assert main(["record", *command, "-o", str(tmp_path)]) == 2
        assert said in capsys.readouterr().err


def test_one_command_goes_on_where_it_was_cut_off_and_says_what_it_skips(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    absent = tmp_path / "absent.toml"
    text = SPEC.replace('"least_squares", data = "diabetes"', '"softmax_regression", data = "mnist"')
    absent.write_text(text.replace("Two step sizes", "Other data").replace(', split = "random"', ""))
    path, real, seen = tmp_path / "r" / "two-step-sizes.json", Runs.row, list[str]()
    command = ["record", str(absent), str(spec_file), "-o", str(tmp_path / "r"), "--no-store"]

    def cut_off(self: Runs, case: Any, chosen: Any = None) -> Any:
        seen.append(case.label)
        row = real(self, case, chosen)
        if len(seen) == 2:
            raise KeyboardInterrupt
        return row

    monkeypatch.setattr(Runs, "row", cut_off)
    assert main(command) == 130
    first = read(path)
    assert [row.case for row in first.rows] == ["2 rounds"]
    assert first.unfinished["5 rounds"] > 0
    assert "Rows of the table that are not recorded: 5 rounds." in recorded_study(first, path).words
    capsys.readouterr()
    assert main(command) == 0
    told = capsys.readouterr().out
    assert seen == ["2 rounds", "5 rounds", "5 rounds"]
    for words in ("skipped: the data set 'mnist'", "boundcheck data fetch mnist", "2 rounds is recorded already"):
        assert words in told
    assert "1 of 2 tables" in told
    second = read(path)
    assert second.unfinished == {}
    assert second.rows[1].processor_hours > first.unfinished["5 rounds"]
    # a table that changes and gains a row keeps the others
    other = '{ label = "5 rounds", rounds = 4 }, { label = "3 rounds", rounds = 3 }]\nscaled = ["A word."]'
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.replace('{ label = "5 rounds", rounds = 5 }]', other))
    assert main(["record", str(spec), "-o", str(tmp_path / "r"), "--no-store"]) == 0
    assert seen[3:] == ["5 rounds", "3 rounds"]
    assert [row.case for row in read(path).rows] == ["2 rounds", "5 rounds", "3 rounds"]
    assert read(path).rows[0] == second.rows[0]
    # other seeds: another table, begun anew
    assert main([*command, "--seeds", "3", "--row", "5 rounds"]) == 0
    assert [row.case for row in read(path).rows] == ["5 rounds"]
    assert read(path).command.endswith("--table 'Two step sizes' --seeds 3")


def test_shipped_records_are_of_the_tables_of_the_repository_and_in_the_readme() -> None:
    records = [(path, read(path)) for path in shipped_records()]
    assert all(record_file(name) == path for path, _ in records for name in (path.name, path.stem))
    assert records
    tables: dict[str, Any] = {}
    for path in CONFIGS.glob("*.toml"):
        tables |= {t["name"]: (path, t) for t in load_specification(path).data.get("training", [])}
    text = (CONFIGS / "README.md").read_text()
    for path, record in records:
        config, table = tables[record.spec.name]
        assert {**record.table, "seeds": 0} == {**table, "seeds": 0}, f"{path.name} is of another table"
        assert record.command.startswith(f"boundcheck record configs/neural/{config.name} --table ")
        assert path.stat().st_size < 500_000
        assert record.processor_hours > 0
        assert f"| {' | '.join(summary_row(record).values())} |" in text
    summary = summary_study([record for _, record in records])
    assert [row[0] for row in summary.tables[0].rows] == [record.spec.name for _, record in records]
    assert summary.words[0].startswith("RECORDED, not run for this report, in ")


@pytest.mark.slow  # half a minute: ten seeds of four methods on each of three problems
def test_a_shipped_row_run_again_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = [path for path in shipped_records() if "feddane-figure-2" in path.name]
    assert main(["record", "--compare", str(path), "--row", "synthetic(1, 1)"]) == 0
    assert "the row 'synthetic(1, 1)' agrees." in capsys.readouterr().out


def test_a_row_without_its_data_names_the_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(wanted: Any) -> Any:
        raise DataNotFetched("the data set 'x' is not here; 'boundcheck data fetch x' gets it.")

    monkeypatch.setattr("boundcheck.networks.study.runs.build_problem", absent)
    assert main(["record", "--compare", str(file)]) == 2
