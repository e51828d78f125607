"""The example of a user's module runs, and learns."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_module.py"


def test_the_example_learns(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    found = [re.fullmatch(r"round +(\d+): F = ([\d.]+), held-out accuracy ([\d.]+)%", line) for line in lines]
    rows = [tuple(float(v) for v in match.groups()) for match in found if match is not None]
    assert [r for r, _, _ in rows] == [0, 5, 10, 20]
    assert rows[0][1] == pytest.approx(2.3026, abs=0.1)  # ln 10: it knows nothing yet
    assert rows[-1][1] < 0.8 * rows[0][1]
    assert rows[-1][2] > 50 > 3 * rows[0][2]


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 40
