"""Sharpness and tightness baselines in the pytest plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from boundcheck.errors import BadInput
from boundcheck.evidence.baselines import Baselines
from boundcheck.pytest_plugin import Boundcheck

APPENDIX_B: dict[str, Any] = {"kind": "scgd_appendix_b", "clients": 4}
SCGD: dict[str, Any] = {"kind": "scgd", "E": 2, "eta": "largest"}
THEOREM = "scgd/theorem_3_3/corrected"
RUN: dict[str, Any] = {"problem": APPENDIX_B, "method": SCGD, "at": {"K": [1, 10, 100]}}


HUBER: dict[str, Any] = {
    "problem": {"kind": "huber", "L": 1, "R": 1, "k": 3},
    "method": {"kind": "gradient_descent", "eta": "largest"},
    "at": {"k": [3]},
    "arithmetic": "rational",
}
SHARP = "classics/gradient_descent_convex/sharp"
PRINTED = "classics/gradient_descent_convex/as_printed"


def test_a_sharp_bound_is_as_sharp_as_the_printed_one_and_not_the_other_way(boundcheck: Boundcheck) -> None:
    """On the Huber function the sharp bound L R^2/(4k + 2) is attained; the printed one is larger."""
    found = boundcheck.assert_holds(SHARP, **HUBER, at_least_as_sharp_as=PRINTED)
    assert found.verdict.tightness is not None
    assert found.verdict.tightness.ratio_min == pytest.approx(1, rel=1e-9)
    boundcheck.assert_holds(SHARP, **HUBER, at_least_as_sharp_as=SHARP)
    with pytest.raises(AssertionError, match="is less sharp on this run than classics/gradient_descent_convex/sharp"):
        boundcheck.assert_holds(PRINTED, **HUBER, at_least_as_sharp_as=SHARP)


def test_baselines(tmp_path: Path) -> None:
    place = tmp_path / "test_rates.py"
    first = Boundcheck([], place, "test_descent")
    with pytest.raises(AssertionError, match=r"has no baseline 'test_descent: .*--boundcheck-update"):
        first.assert_tightness(THEOREM, **RUN)
    Boundcheck([], place, "test_descent", update=True).assert_tightness(THEOREM, **RUN)
    path = tmp_path / "test_rates.tightness.json"
    kept = json.loads(path.read_text())
    ((name, value),) = kept["tightness"].items()
    assert name.startswith("test_descent: ")
    assert first.assert_tightness(THEOREM, **RUN).verdict.tightness.ratio_min == pytest.approx(value)  # pyright: ignore[reportOptionalMemberAccess]
    kept["tightness"][name] = value * 1.001
    path.write_text(json.dumps(kept))
    with pytest.raises(AssertionError, match="if the change is meant"):
        first.assert_tightness(THEOREM, **RUN)
    first.assert_tightness(THEOREM, **RUN, rel=0.01)


def test_malformed_files(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in ("", "[]", '{"tightness": {"a": "b"}}', '{"schema": 1, "tightness": 3}'):
        path.write_text(text)
        with pytest.raises(BadInput, match="no file of tightness baselines"):
            Baselines(path).against("a", 1.0, 1e-6)
    path.write_text('{"schema": 9, "tightness": {}}')
    with pytest.raises(BadInput, match="schema 9"):
        Baselines(path).against("a", 1.0, 1e-6)
    with pytest.raises(BadInput, match="rel = 2"):
        Baselines(path).against("a", 1.0, 2)
    with pytest.raises(BadInput, match="use the fixture"):
        Boundcheck([]).assert_tightness(THEOREM, **RUN)
    assert Baselines(tmp_path / "none.json").against("a", float("nan"), 1e-6) is not None
