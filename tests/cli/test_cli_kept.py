# pyright: reportPrivateUsage=false
"""What `list` and `show` keep: found again on the same bytes only, never for statements of --load, never needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_tools import Run

from boundcheck.cli import _kept

Keep = Callable[[], dict[str, Any] | None]
OWN = """
import sympy as sp
from boundcheck.theory.dimension import VALUE
from boundcheck.theory.statement import Metric, Source
from boundcheck.theory.symbols import common
from boundcheck.theory.theorem import Reading, Theorem

theorem = Theorem(source=Source("Mine", "Theorem 1", "page 1"), title="Mine", symbols=(common.gap_0,), any_method=True,
                  metric=Metric("gap", VALUE), bound=common.gap_0.expr / 2, readings={"as_printed": Reading()})
"""


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command as in a process that has imported no statement."""
    monkeypatch.setattr(_kept, "begin", lambda: None)
    monkeypatch.setitem(_kept._state, "fresh", True)
    _kept._digest.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: None) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "theorem.py").write_text("1")
    monkeypatch.setattr(_kept, "_roots", lambda: [folder])
    return folder


def asked_for(name: str, answer: dict[str, Any] | None) -> bool:
    """Whether `kept` had to make the content, which is checked."""
    made: list[str] = []

    def make() -> dict[str, Any] | None:
        made.append(name)
        return answer

    _kept._digest.cache_clear()
    assert _kept.kept(name, make) == answer
    return bool(made)


def test_kept_on_the_same_bytes_only(root: Path) -> None:
    assert asked_for("a", {"x": 1})
    assert not asked_for("a", {"x": 1})
    assert asked_for("b", {"x": 2})
    (root / "theorem.py").write_text("2")
    assert asked_for("a", {"x": 3})
    (root / "theorem.py").write_text("1")
    assert not asked_for("a", {"x": 1})
    (root / "definitions.json").write_text("{}")
    assert asked_for("a", {"x": 4})


def test_none_is_not_kept_and_damage_is_made_again(root: Path, tmp_path: Path) -> None:
    assert asked_for("a", None)
    assert asked_for("a", {"x": 1})
    for damage in (lambda content: content[:-9], lambda content: content.replace(b"1", b"2", 1)):
        for path in (tmp_path / "index").glob("*/*.json"):
            path.write_bytes(damage(path.read_bytes()))
        assert asked_for("a", {"x": 1})
        assert not asked_for("a", {"x": 1})


def test_a_folder_of_somebody_else_keeps_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "letter.txt").write_text("mine")
    assert asked_for("a", {"x": 1})
    assert asked_for("a", {"x": 1})
    assert os.listdir(tmp_path / "index") == ["letter.txt"]


def test_only_the_latest_states_stay(root: Path, tmp_path: Path) -> None:
    for number in range(_kept.STATES + 3):
        (root / "theorem.py").write_text(f"state {number}")
        assert asked_for("a", {"x": number})
    assert sum(p.is_dir() for p in (tmp_path / "index").iterdir()) == _kept.STATES
    assert not asked_for("a", {"x": _kept.STATES + 2})


def test_the_second_list_and_show_load_no_sympy(boundcheck_cli: Run, fresh: None, tmp_path: Path) -> None:
    first = boundcheck_cli("list", "--json")
    assert len(first.json["statements"]) > 300
    boundcheck_cli("show", "scgd/theorem_3_3", "--json")
    script = (
        "import contextlib, io, json, sys\n"
        "from boundcheck.cli import main\n"
        "found = []\n"
        "for arguments in (['list', '--json'], ['show', 'scgd/theorem_3_3', '--json']):\n"
        "    with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "        assert main(arguments) == 0\n"
        "    found.append(json.loads(out.getvalue()))\n"
        "print(json.dumps([found, [m for m in ('sympy', 'numpy', 'boundcheck.papers.scgd') if m in sys.modules]]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    (listed, shown), heavy = json.loads(done.stdout)
    assert heavy == []
    assert listed == first.json
    assert shown["id"] == "scgd/theorem_3_3/corrected"


def test_statements_of_load_are_listed_and_not_kept(boundcheck_cli: Run, fresh: None, tmp_path: Path) -> None:
    from boundcheck.theory.loading import unload

    (tmp_path / "mine.py").write_text(OWN)
    load = ("--load", str(tmp_path / "mine.py"))
    try:
        found = boundcheck_cli("list", *load, "--json").json
        ids = [r["id"] for r in found["statements"]]
        assert "mine/mine/as_printed" in ids
        assert ids == sorted(ids, key=lambda id: id.rpartition("/")[0])
        assert len(ids) == len(set(ids)) > 300
        assert boundcheck_cli("list", *load, "--paper", "mine", "--json").json["counts"]["readings"] == 1
        assert boundcheck_cli("show", "mine/mine", *load, "--json").json["id"] == "mine/mine/as_printed"
        assert not any(b"mine/mine" in p.read_bytes() for p in (tmp_path / "index").glob("*/*.json"))
    finally:
        unload("mine")


def test_a_terminal_of_80_columns_loses_no_column(boundcheck_cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True, raising=False)
    out = boundcheck_cli("list", "--paper", "scgd").out
    assert max(map(len, out.splitlines()[:-1])) <= 80
    for part in ("title: ", "kind: ", "our verdict: ", "dimensions: units disagree", "evidence: "):
        assert part in out
    formula = boundcheck_cli("show", "async_fl/theorem_1/sharp").out
    shown = boundcheck_cli("show", "scgd/theorem_3_3").out
    assert max(map(len, shown.splitlines())) <= 80
    for whole in ("printed: σ²", "(quasi-)convexity", "dimensionless", "clients/sigma2"):  # no word is broken
        assert whole in shown
    drawn = [row for row in formula.splitlines() if "─" in row or "⎛" in row]
    assert drawn
    assert max(map(len, drawn)) <= 80


def test_list_false_shows_false_readings_only(boundcheck_cli: Run) -> None:
    found = boundcheck_cli("list", "--paper", "scgd", "--false", "--json").json
    assert {r["belief"] for r in found["statements"]} == {"false"}
    every = boundcheck_cli("list", "--paper", "scgd", "--json").json["statements"]
    assert len(found["statements"]) == sum(r["belief"] == "false" for r in every) > 0
