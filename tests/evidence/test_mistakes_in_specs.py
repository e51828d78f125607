"""A wrong parameter of a method or a problem does not hide the next one."""

from __future__ import annotations

from typing import Any

import pytest

from boundcheck.evidence.mistakes import mistakes_in
from boundcheck.methods.build import build as build_method
from boundcheck.problems.build import build as build_problem

TWO = {"kind": "uniform", "size": 0}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"kind": "scgd", "E": 1, "eta": "1/10"}, []),
        ({"kind": "nope", "E": 0}, ["the method 'nope' is unknown"]),
        ({"kind": "scgd", "E": 0}, ["E = 0"]),
        ({"kind": "scgd", "E": 0, "eta": -1}, ["E = 0", "eta = -1"]),
        ({"kind": "scgd", "E": 0, "eta": "1/0", "oops": 1}, ["'oops' is unknown", "E = 0", "eta = '1/0'"]),
        (
            {"kind": "fedshuffle", "E": 0, "batch": 0, "eta_l": -1, "participation": TWO},
            ["size = 0", "E = 0", "batch = 0", "eta_l = -1"],
        ),
        (
            {"kind": "fedshuffle_gen", "E": {"low": 3, "high": 2}, "c": "foo", "eta_l": "x"},
            ["the divisor c", "epochs from 3 to 2", "eta_l = 'x'"],
        ),
        ({"kind": "fedavg_async", "K": 0, "eta_l": 1, "times": [1], "weights": "x"}, ["K = 0", "'x' is unknown"]),
    ],
    ids=lambda v: v["kind"] if isinstance(v, dict) else str(len(v)),
)
def test_methods(spec: dict[str, Any], expected: list[str]) -> None:
    found = [str(e) for e in mistakes_in(spec, build_method)]
    assert len(found) == len(expected), found
    assert all(sum(part in text for text in found) == 1 for part in expected), found


def test_problems() -> None:
    found = [str(e) for e in mistakes_in({"kind": "huber", "k": "3/2", "L": -1}, build_problem, ())]
    assert len(found) == 2
    assert "L = -1" in found[0]
    assert "k = 3/2" in found[1]
    assert mistakes_in({"kind": "huber"}, build_problem, ()) == []
