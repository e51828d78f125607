# pyright: reportPrivateUsage=false
"""Stored programs: the values of the statement itself, no SymPy, and never those of other bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from boundcheck.core import index
from boundcheck.errors import BadInput, UnknownName
from boundcheck.report.worked import worked_number
from boundcheck.theory.discovery import all_statements, papers, statement
from boundcheck.theory.index import numbers_of
from boundcheck.theory.scope import scope_symbols
from boundcheck.theory.stored import Stored, step_sizes, stored

ROOT = Path(__file__).parents[2]
POINT = {"mu": "1/10", "L": 1, "n": 20, "E": 4, "sigma2": 1, "dist2_0": 4, "K": 1000, "eta": "1/100000"}
SETS = [part for name, value in POINT.items() for part in ("--set", f"{name}={value}")]


def told(method: Callable[..., Any], *names: str, **values: Any) -> Any:
    """What a method of a statement answers, or the sentence why it gives no answer."""
    try:
        found = method(*names, **values)
    except BadInput as error:
        return str(error)
    return found if isinstance(found, Fraction) else found.to_dict()


@pytest.mark.parametrize("paper", sorted(papers()))
def test_values_with_and_without_the_stored_program_are_equal(paper: str) -> None:
    compared = 0
    for claimed in all_statements(paper):
        worked = worked_number(claimed)
        if worked is None:
            continue
        kept = Stored.from_json(json.loads(json.dumps(stored(claimed).to_json())))
        assert kept == stored(claimed)
        for stretch in (1, 7):  # the second mostly leaves the scope
            values = {k: Fraction(v) * (1 if claimed.symbol(k).integer else stretch) for k, v in worked.constants}
            own = {name: values[name] for name in scope_symbols(claimed, choices=True) if name in values}
            assert told(kept.evaluate, **values) == told(claimed.evaluate, **values)
            assert told(kept.scope, **own) == told(claimed.scope, **own)
            for name in step_sizes(claimed) if stretch == 1 else ():
                others = {k: v for k, v in own.items() if k != name}
                assert told(kept.largest, name, **others) == told(claimed.largest, name, **others)
            compared += 1
    assert compared >= 5


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOUNDCHECK_INDEX", str(tmp_path / "index"))
    monkeypatch.setitem(index._state, "fresh", True)


def test_an_id_means_the_same_in_the_index(fresh: None) -> None:
    best = numbers_of("scgd/theorem_3_3")
    assert isinstance(best, Stored)
    assert best.id == statement("scgd/theorem_3_3").id
    assert numbers_of(" /scgd/theorem_3_3/as_printed_main/").best_id == "scgd/theorem_3_3/as_printed_main"
    assert best.expressions() is statement(best.id)
    for wrong in ("scgd/theorem_3_9", "scgd/theorem_3_3/sharpest", "scgd", "nothing/x", "../scgd/x"):
        with pytest.raises((UnknownName, BadInput)) as caught:
            numbers_of(wrong)
        with pytest.raises(type(caught.value)) as expected:
            statement(wrong)
        assert str(caught.value) == str(expected.value)


def test_evaluate_and_scope_load_no_sympy(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from boundcheck.cli import main\n"
        "code = main(sys.argv[1:])\n"
        "print('LOADED', code, [m for m in ('sympy', 'numpy', 'boundcheck.papers.scgd') if m in sys.modules])\n"
    )
    surroundings = os.environ | {"BOUNDCHECK_INDEX": str(tmp_path / "index")}
    scope = [part for name in ("mu", "L", "n", "E", "eta") for part in ("--set", f"{name}={POINT[name]}")]
    evaluate, decide = ["evaluate", "scgd/theorem_3_3", *SETS], ["scope", "scgd/theorem_3_3", *scope]
    texts = [  # the first makes the entry
        subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, env=surroundings
        ).stdout.rpartition("LOADED ")
        for arguments in (evaluate, evaluate, decide)
    ]
    assert [loaded for _, _, loaded in texts[1:]] == ["0 []\n"] * 2
    assert texts[0][0] == texts[1][0]
    assert "scope" in texts[2][0]


def test_a_changed_byte_is_never_answered_from_the_index(tmp_path: Path) -> None:
    """In a copy: of a paper's file, and of the code that makes the programs."""
    ignored = shutil.ignore_patterns("__pycache__", "*.svg", "*.js", "*.npz")
    shutil.copytree(ROOT / "boundcheck", tmp_path / "copy" / "boundcheck", ignore=ignored)
    surroundings = os.environ | {"BOUNDCHECK_INDEX": str(tmp_path / "index"), "PYTHONPATH": str(tmp_path / "copy")}

    def value() -> float:
        command = [sys.executable, "-m", "boundcheck", "evaluate", "scgd/theorem_3_3", *SETS, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=surroundings, cwd=tmp_path)
        return json.loads(done.stdout)["value"]

    def change(file: str, old: str, new: str) -> None:
        path = tmp_path / "copy" / "boundcheck" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    first = value()
    change("papers/scgd/theorem_3_3.py", "12 * L**2", "13 * L**2")
    changed = value()
    assert changed > first
    change("theory/translate.py", "builder.product(top)", "builder.product([*top, *top])")
    assert value() != changed
