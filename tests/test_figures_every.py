"""Several figures drawn side by side are those that their scripts draw."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FIGURES = Path(__file__).parents[1] / "figures"


def drawn(script: str, out: Path, *more: str) -> dict[str, bytes]:
    done = subprocess.run(
        [sys.executable, str(FIGURES / f"{script}.py"), "-o", str(out), *more], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    files = {p.name: p.read_bytes() for p in out.iterdir()}
    assert set(done.stdout.split()) == {str(out / name) for name in files}
    return files


@pytest.mark.slow  # five processes that draw figures: twenty seconds
def test_two_processes_draw_what_the_scripts_draw(tmp_path: Path) -> None:
    names = ("partial_averaging_table", "async_fl_gantt")
    alone = {k: v for name in names for k, v in drawn(name, tmp_path / name).items()}
    together = drawn("_every", tmp_path / "every", "--workers", "2", *names)
    record = {row["name"]: row for row in json.loads(together.pop("record.json"))}
    assert together == alone
    assert [f["word"] for f in record["Asynchronous FL, Figure 1"]["findings"]] == ["reproduced", "reproduced"]
    assert len(record) == 43
    assert {Path(k).stem for k in alone} == set(names)


def test_an_unknown_figure_is_told_before_anything_is_drawn(tmp_path: Path) -> None:
    command = [sys.executable, str(FIGURES / "_every.py"), "-o", str(tmp_path), "async_fl_gantt", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no figure 'nothing'; known: async_fl_figure_2," in done.stderr
    assert not list(tmp_path.iterdir())
