# pyright: reportPrivateUsage=false
"""What `list` and `show` keep: found again on the same bytes only, never for statements of --load, never needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_tools import Run

from boundcheck.core import index

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
    monkeypatch.setattr(index, "begin", lambda: None)
    monkeypatch.setitem(index._state, "fresh", True)


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
