"""The tool behind `make mutants`: named changes that fit, tests chosen by what they run, outcomes."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from pathlib import Path

import pytest

from tests.mutants import chosen, run
from tests.mutants.chosen import Chosen

CODE = "LIMIT = 3\n\n\ndef below(x):\n    return x < LIMIT\n\n\ndef twice(x):\n    y = x + x\n    return y\n"
TABLE = "from functools import cache\n\n\n@cache\ndef table():\n    return {2: 4}\n"
TESTS = """
from boundcheck.room.code import below, twice
from boundcheck.room.table import table

def test_below():
    assert below(2)

def test_twice():
    assert twice(2) == 4

def test_table_is_there():
    assert table()

def test_what_it_has():
    assert table()[2] == 4

def test_red():
    assert below(7)
"""


def test_every_file_is_in_a_room() -> None:
    found = run.rooms()
    assert {"top", "cli", "networks", "sweeps"} <= found.keys()
    files = [name for names in found.values() for name in names]
    assert sorted(files) == sorted(str(p.relative_to(run.ROOT)) for p in (run.ROOT / "boundcheck").rglob("*.py"))


def test_named_changes_fit_the_code() -> None:
    changes = [change for files in run.rooms().values() for change in run.named(files)]
    assert len(changes) == len(run.listed("changes.toml")) > 0  # none names a file that is gone
    for change in changes:
        text = (run.ROOT / change["file"]).read_text()
        changed = run.made(change, text)
        assert changed != text
        compile(changed, change["file"], "exec")


def test_unnoticed_changes_are_in_the_code() -> None:
    for entry in run.listed("unnoticed.toml"):
        assert entry["change"].split(" -> ")[0] in (run.ROOT / entry["file"]).read_text()


def test_a_change_is_made_where_it_was() -> None:
    change = run.change_between("code.py", CODE, CODE.replace("y = x + x", "y = x - x"))
    assert change == {"file": "code.py", "line": 9, "old": "    y = x + x\n", "new": "    y = x - x\n"}
    assert run.made(change, CODE) == CODE.replace("x + x", "x - x")
    with pytest.raises(SystemExit, match=r"code\.py, line 9: the text of the change is not there"):
        run.made(change, "\n" + CODE)


def test_tests_that_fit_into_the_time() -> None:
    seconds = {"a::1": 1.0, "a::2": 9.0, "b::1": 1.0, "c::1": 2.0}
    known = Chosen({}, seconds)
    known.collection = {"a": 0.0, "b": 5.0, "c": 1.0}
    assert known.affordable(seconds, 4.0) == ["a::1", "c::1"]
    assert known.affordable(["a::2"], 4.0) == ["a::2"]


def test_keys_follow_the_code_and_the_tests(tmp_path: Path) -> None:
    names = ["boundcheck/x.py", "tests/help.py", "tests/a/test_a.py", "tests/b/test_b.py", "tests/b/tool.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    def renewed(name: str) -> set[str]:
        before = chosen.keys(tmp_path, names, ["tests"])
        (tmp_path / name).write_text("x = 1\n")
        after = chosen.keys(tmp_path, names, ["tests"])
        return {test for test in after if after[test] != before[test]}

    assert renewed("tests/b/tool.py") == renewed("tests/b/test_b.py") | {"tests/b/test_b.py"} == {"tests/b/test_b.py"}
    assert renewed("tests/help.py") == {"tests/a/test_a.py", "tests/b/test_b.py"}
    assert renewed("boundcheck/x.py") == {"tests/a/test_a.py", "tests/b/test_b.py"}


def test_outcomes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "boundcheck/__init__.py": "",
        "boundcheck/pytest_plugin.py": "",  # the entry point of the installed package
        "boundcheck/room/__init__.py": "",
        "boundcheck/room/code.py": CODE,
        "boundcheck/room/table.py": TABLE,
        "tests/room/test_code.py": TESTS,
        "tests/mutants/contexts.py": Path(run.HERE / "contexts.py").read_text(),
        "pytest.ini": "[pytest]\nmarkers = slow\naddopts = -ra\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    for module in (chosen, run):
        monkeypatch.setattr(module, "ROOT", tmp_path)
        monkeypatch.setattr(module, "BUILD", tmp_path / "build")
    asked = Namespace(python=sys.executable, limit=60.0, tests=["tests/room"], minutes=5.0, workers=1)
    runner = run.Runner(asked, list(files))
    found = runner.measured()
    assert found is not None
    assert found.failed == ["tests/room/test_code.py::test_red"]
    at, code = "tests/room/test_code.py::", "boundcheck/room/code.py"
    below, twice, there, has = (at + n for n in ("test_below", "test_twice", "test_table_is_there", "test_what_it_has"))

    def groups(source: str, row: int) -> list[set[str]]:
        return [set(group) for group in found.tests(source, range(row, row + 1))]

    assert groups(code, 9) == [{twice}, {below}, {there, has}]
    assert groups(code, 1) == [set(), {twice, below}, {there, has}]  # run at import
    assert groups("boundcheck/room/table.py", 6) == [{there}, set(), {twice, below, has}]  # has uses what is kept
    mutants = [
        run.change_between(code, CODE, CODE.replace("y = x + x", new)) | {"outcome": None, "before": "killed"}
        for new in ("y = x * x * x", "y = x * 2")
    ]
    capsys.readouterr()
    path = tmp_path / "build" / "lists" / "room.json"
    assert run.carry_out(path, {"room": "room", "mutants": mutants}, runner, found) == 1
    assert [m["outcome"] for m in json.loads(path.read_text())["mutants"]] == ["killed", "survived"]
    assert mutants[0]["by"] == twice
    assert "room: 1 killed, 1 survived" in (printed := capsys.readouterr().out)
    assert f"survived {code}:9  y = x + x -> y = x * 2\n    WAS NOTICED BEFORE" in printed
    copy = runner.free.get()
    assert (copy / code).read_text() == CODE
    assert runner.outcome(mutants[1], [at + "test_red"], copy) == ("flawed", at + "test_red")
    runner.free.put(copy)
    late = [mutants[0] | {"outcome": None}]
    runner.end = time.monotonic()
    assert run.carry_out(path, {"room": "room", "mutants": late}, runner, found) == run.UNFINISHED
