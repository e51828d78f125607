"""Recorded tables of training: what a file holds, what is refused, that a row run again agrees, what a page says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from boundcheck.cli import main
from boundcheck.errors import DataNotFetched
from boundcheck.evidence.ordering import seeds_needed
from boundcheck.evidence.shipped_files import shipped_records
from boundcheck.networks.study import Spec, recorded_pages, recording, study
from boundcheck.networks.study.recorded import Record, read, text_of
from boundcheck.networks.study.recorded_pages import counts, judged, prices, recorded_study, summary_study
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


def changed(file: Path, to: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    data = json.loads(file.read_text())
    change(data)
    to.write_text(json.dumps(data))
    return to


def test_a_record_shows_what_new_runs_show(file: Path, spec_file: Path) -> None:
    record = read(file)
    fresh = study(Spec.model_validate(load_specification(spec_file).data["training"][0]))
    shown = recorded_study(record, file)
    assert shown.tables[: len(fresh.tables)] == fresh.tables
    assert shown.words[1:] == fresh.words
    assert shown.kind == "recorded"
    assert shown.name == "Recorded: Two step sizes"
    assert shown.words[0].startswith(f"RECORDED, not run for this report: on {record.recorded} by 'boundcheck record")
    assert record.code[:12] in shown.words[0]
    assert "is that of the code here" in shown.words[0]
    assert f"boundcheck rerun {file.name} --row '2 rounds'" in shown.words[0]
    for new, old in zip(fresh.series, shown.series, strict=True):
        np.testing.assert_allclose(old.y, new.y, rtol=1e-8)
    assert [row.case for row in record.rows] == ["2 rounds", "5 rounds"]
    assert all(row.processor_hours > 0 for row in record.rows)
    assert set(record.versions) == {"boundcheck", "numpy", "numba", "scipy", "torch", "python", "processor"}


def test_the_text_of_a_record_is_read_back(file: Path) -> None:
    record = read(file)
    assert text_of(record) == file.read_text()
    assert file.stat().st_size < 10_000


def test_a_row_run_again_agrees(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rerun", str(file), "--row", "5 rounds", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agrees"] is True
    assert found["differs"] == []
    assert [n["outcome"] for n in found["numbers"]] == ["the same"] * 2
    assert main(["rerun", str(file)]) == 0
    assert "The row '2 rounds' agrees." in capsys.readouterr().out


def _shift(data: dict[str, Any], by: float) -> None:
    """All seeds of the first method at the end of its run."""
    for own in data["rows"][0]["runs"][0]["samples"]["gap"]:
        own[-1] += by


def test_other_numbers_do_not_agree(file: Path, tmp_path: Path) -> None:
    """Only other code or versions allow the interval in the place of the number."""
    half = recording.run_again(read(file), "2 rounds").found[0].half
    assert half > 0

    def near(data: dict[str, Any]) -> None:
        _shift(data, half / 2)

    def near_by_other_code(data: dict[str, Any]) -> None:
        near(data)
        data["code"] = "0" * 64

    def far_by_other_versions(data: dict[str, Any]) -> None:
        _shift(data, 2 * half)
        data["versions"]["numpy"] = "0.1"

    assert main(["rerun", str(changed(file, tmp_path / "a.json", near))]) == 1
    assert main(["rerun", str(changed(file, tmp_path / "b.json", near_by_other_code))]) == 0
    assert main(["rerun", str(changed(file, tmp_path / "c.json", far_by_other_versions))]) == 1
    found = recording.run_again(read(tmp_path / "b.json"), None)
    assert found.differs == ("the code",)
    assert [again.outcome for again in found.found] == ["within the interval", "the same"]
    shown = recorded_study(read(tmp_path / "b.json"), tmp_path / "b.json")
    assert "no longer fits: the code has changed since" in shown.words[0]


def test_diverged_runs_are_kept_as_text(file: Path, tmp_path: Path) -> None:
    def diverge(data: dict[str, Any]) -> None:
        data["rows"][0]["runs"][1]["samples"]["gap"][2][1:] = ["inf", "inf"]

    record = read(changed(file, tmp_path / "d.json", diverge))
    assert math.isinf(record.cases[0].runs[1].samples["gap"][2, 1])
    assert '"inf"' in text_of(record)
    (tmp_path / "e.json").write_text(text_of(record))
    assert read(tmp_path / "e.json") == record
    assert "diverged in 1 of 4 seeds" in str(recorded_study(record, tmp_path / "d.json").tables[0].rows)


def _set(*keys: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "foreign": (lambda d: d.clear(), "is no record of training"),
    "witness": (_set("kind", value="witness"), "is no record of training"),
    "schema": (_set("schema", value=2), "has schema 2; this version reads 1"),
    "date": (_set("recorded", value="yesterday"), "malformed at recorded"),
    "code": (_set("code", value="abc"), "malformed at code"),
    "modules": (_set("modules", value=["os.path"]), "malformed at modules.0"),
    "unknown key": (_set("more", value=1), "malformed at more"),
    "no rows": (_set("rows", value=[]), "has no rows"),
    "twice": (lambda d: d["rows"].append(d["rows"][0]), "has the row '2 rounds' twice"),
    "row": (_set("rows", 0, "case", value="9 rounds"), "the row '9 rounds'"),
    "method": (_set("rows", 0, "runs", 0, "method", value="other"), "does not have the methods of its table"),
    "setting": (_set("rows", 0, "runs", 0, "tried", value={"eta_l": "7"}), "that the table does not try"),
    "metric": (_set("rows", 0, "runs", 0, "samples", value={"f": [[1.0]]}), "does not hold gap of 'larger step'"),
    "seeds": (_set("table", "seeds", value=5), "5 seeds at 3 rounds each"),
    "values": (_set("rows", 0, "runs", 0, "samples", "gap", 0, 0, value="ten"), "malformed at rows.0.runs.0.samples"),
    "order": (_set("rows", 0, "runs", 0, "x", value=[0.0, 2.0, 1.0]), "that are not in order"),
    "hours": (_set("rows", 0, "processor_hours", value=-1), "malformed at rows.0.processor_hours"),
    "table": (_set("table", "methods", value=[]), "malformed at methods"),
    "table's method": (_set("table", "methods", 0, "method", "kind", value="magic"), "'magic' is unknown"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_and_foreign_files_are_refused_in_a_sentence(
    name: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change, said = REFUSED[name]
    path = changed(file, tmp_path / "x.json", change)
    for command in (["rerun", str(path)], ["report", str(path), "-o", str(tmp_path / "report")]):
        assert main(command) == 2
        told = capsys.readouterr().err
        assert said in told
        assert str(path) in told
        assert len(told.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read"), ("", "is not JSON"), ("[" * 100_000, "nested too deeply"), ("[]", "is no record")],
)
def test_files_that_are_no_json_are_refused(
    content: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    assert main(["rerun", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_wrong_rows_and_tables_are_refused(
    file: Path, spec_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rerun", str(file), "--row", "3 rounds"]) == 2
    assert "the row '3 rounds' is unknown; did you mean '5 rounds'" in capsys.readouterr().err
    for more, said in ((["--table", "Three"], "the table 'Three'"), (["--row", "x"], "the row 'x'")):
        assert main(["record", str(spec_file), "-o", str(tmp_path / "r"), *more]) == 2
        assert said in capsys.readouterr().err
    (tmp_path / "claims.toml").write_text("schema = 1\n")
    assert main(["record", str(tmp_path / "claims.toml"), "-o", str(tmp_path / "r")]) == 2
    assert "has no [[training]] table to record" in capsys.readouterr().err
    (tmp_path / "r" / "two-step-sizes.json").write_text("{}")
    assert main(["record", str(spec_file), "-o", str(tmp_path / "r")]) == 2
    assert "is no record of training" in capsys.readouterr().err
    assert (tmp_path / "r" / "two-step-sizes.json").read_text() == "{}"


def test_finished_rows_are_kept_and_time_is_added_up(
    spec_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real, seen = str(tmp_path / "r"), recording.carry_out_case, list[str]()
    path = tmp_path / "r" / "two-step-sizes.json"

    def cut_off(spec: Any, case: Any, *rest: Any, **more: Any) -> Any:
        seen.append(case.label)
        if len(seen) == 2:
            real(spec, case, *rest, **more)
            raise KeyboardInterrupt
        return real(spec, case, *rest, **more)

    monkeypatch.setattr(recording, "carry_out_case", cut_off)
    assert main(["record", str(spec_file), "-o", out, "--no-store"]) == 130
    first = read(path)
    assert [row.case for row in first.rows] == ["2 rounds"]
    assert first.unfinished["5 rounds"] > 0
    assert "Rows of the table that are not recorded: 5 rounds." in recorded_study(first, path).words
    assert main(["record", str(spec_file), "-o", out, "--no-store"]) == 0
    assert seen == ["2 rounds", "5 rounds", "5 rounds"]
    second = read(path)
    assert second.unfinished == {}
    assert second.rows[1].processor_hours > first.unfinished["5 rounds"]
    assert main(["record", str(spec_file), "-o", out, "--no-store"]) == 0
    assert len(seen) == 3
    assert main(["record", str(spec_file), "-o", out, "--no-store", "--seeds", "3", "--row", "5 rounds"]) == 0
    other = read(path)  # another table: begun anew
    assert [row.case for row in other.rows] == ["5 rounds"]
    assert other.spec.seeds == 3
    assert other.command.endswith("--table 'Two step sizes' --seeds 3")


def test_a_table_that_gains_a_row_keeps_the_others(
    spec_file: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real, seen = tmp_path / "r", recording.carry_out_case, list[str]()
    out.mkdir()
    (out / file.name).write_text(file.read_text())
    other = '{ label = "5 rounds", rounds = 4 }, { label = "3 rounds", rounds = 3 }]\nscaled = ["A word."]'
    (tmp_path / "spec.toml").write_text(SPEC.replace('{ label = "5 rounds", rounds = 5 }]', other))

    def counted(spec: Any, case: Any, *rest: Any, **more: Any) -> Any:
        seen.append(case.label)
        return real(spec, case, *rest, **more)

    monkeypatch.setattr(recording, "carry_out_case", counted)
    assert main(["record", str(tmp_path / "spec.toml"), "-o", str(out), "--no-store"]) == 0
    assert seen == ["5 rounds", "3 rounds"]
    assert [row.case for row in read(out / file.name).rows] == ["2 rounds", "5 rounds", "3 rounds"]
    assert read(out / file.name).rows[0] == read(file).rows[0]


def test_how_many_seeds_decide() -> None:
    gain = np.array([3.0, 1.0, 2.0, 2.0])  # mean 2, variance 2/3
    per = (1.959963985 + 0.841621234) ** 2 / 6  # normal quantiles at 0.975 and 0.8
    assert seeds_needed(gain, 0.025) == max(2, math.ceil(per))
    assert seeds_needed(gain - 1.9, 0.025) == math.ceil(per * 400)
    assert seeds_needed(-gain, 0.025) == seeds_needed(gain, 0.025)
    assert seeds_needed(gain - 2, 0.025) == math.inf
    assert seeds_needed(np.array([1.0, np.inf]), 0.025) == math.inf


def test_the_price_of_what_is_undecided(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = read(file)
    assert counts(record) == {"reproduced": 2, "reversed": 0, "undecided": 0}
    assert prices(record) == []
    open_pairs = [(case, number, replace(pair, outcome="undecided")) for case, number, pair in judged(record)]
    monkeypatch.setattr(recorded_pages, "judged", lambda record: iter(open_pairs))
    found = prices(record)
    # 4 seeds of 2 methods, and 1 seed of 2 settings: 10 runs in a row
    assert [p.seeds for p in found] == [5, 5]  # one more than there are is the least
    assert [p.hours for p in found] == pytest.approx([2 * row.processor_hours / 10 for row in record.rows])
    row = recorded_pages.summary_row(record)
    assert row[:4] == ("Two step sizes", record.recorded, "2 of 2", "4")
    assert row[4:8] == ("2", "0", "0", "2")


def shipped() -> list[tuple[Path, Record]]:
    return [(path, read(path)) for path in shipped_records()]


def test_shipped_records_are_of_the_tables_of_the_repository() -> None:
    found = shipped()
    assert found
    tables: dict[str, Any] = {}
    for path in CONFIGS.glob("*.toml"):
        tables |= {t["name"]: (path, t) for t in load_specification(path).data.get("training", [])}
    for path, record in found:
        config, table = tables[record.name]
        assert {**record.table, "seeds": 0} == {**table, "seeds": 0}, f"{path.name} is of another table"
        assert record.command.startswith(f"boundcheck record configs/neural/{config.name} --table ")
        assert path.stat().st_size < 500_000
        assert record.processor_hours > 0


def test_the_readme_has_the_counts_of_the_records() -> None:
    rows = recorded_pages.summary_rows([record for _, record in shipped()])
    table = ["| " + " | ".join(row) + " |" for row in rows]
    text = (CONFIGS / "README.md").read_text()
    for line in table:
        assert line in text


def test_the_default_report_shows_all_records() -> None:
    found = shipped()
    summary = summary_study([record for _, record in found])
    assert [row[0] for row in summary.tables[0].rows] == [record.name for _, record in found]
    assert summary.words[0].startswith("RECORDED, not run for this report: ")


@pytest.mark.slow  # half a minute: ten seeds of four methods on each of three problems
def test_a_shipped_row_run_again_agrees(capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = [path for path in shipped_records() if "feddane-figure-2" in path.name]
    assert main(["rerun", str(path), "--row", "synthetic(1, 1)"]) == 0
    assert "The row 'synthetic(1, 1)' agrees." in capsys.readouterr().out


def test_a_row_without_its_data_names_the_command(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(wanted: Any) -> Any:
        raise DataNotFetched("the data set 'x' is not here; 'boundcheck data fetch x' gets it.")

    monkeypatch.setattr("boundcheck.networks.study.runs.build_problem", absent)
    assert main(["rerun", str(file)]) == 2
