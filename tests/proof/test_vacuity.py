"""Attempts to prove something from hypotheses that contradict each other: no point meets them, and a record says so."""

from __future__ import annotations

from itertools import islice, product
from typing import Any

import pytest
from hand_records import FACTS_AT, LEMMA, record, said

from boundcheck.proof.discovery import folder
from boundcheck.proof.find.record import record_file
from boundcheck.verify import boundcheck_verify as v

MET = "that its hypotheses can be met"
SMALL = ("0", "1", "-1", "1/2", "2", "5/2")
PLANE = (["1", "0"], ["0", "1"], ["-1/2", "3/4"], ["-1/2", "-3/4"], ["2", "0"], ["0", "-3"], "0")
A = "assumption/plain_mean: "

# facts that cannot all hold, and how a point may name their terms
CONTRADICTORY: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "numbers": ((A + "<u, u> <= y", A + "y <= 0 - z", A + "z >= 1"), {"y": SMALL, "z": SMALL, "u": SMALL}),
    "an empty interval": ((A + "y > 2", A + "y < 2"), {"y": SMALL}),
    "no integer between": (
        ("count: j >= 1", A + "<u, u> + j < 2", A + "<u, u> > 0"), {"j": ("1", "2"), "u": ("0", "1")}
    ),
    "half an integer": (
        ("count: j >= 1", "count: i >= 0", A + "2*j + <u, u> == 2*i + 1 + <u, u>"),
        {"u": ("0",), "j": ("1", "1/2"), "i": ("0", "1", "1/2")},
    ),
    "the product is longer than the vectors": (
        (A + "<u, u> <= y", A + "<v, v> <= y", A + "<u, v> >= 2*y", A + "y >= 1"),
        {"u": SMALL, "v": SMALL, "y": SMALL},
    ),
    "three vectors cannot all be apart": (
        (*(A + f"<{p}, {p}> == 1" for p in "uvw"), *(A + f"<{p}, {q}> <= 0 - 3/5" for p, q in ("uv", "uw", "vw"))),
        {"u": PLANE, "v": PLANE, "w": PLANE},
    ),
    "two values of one vector": (
        (A + "w = u", A + "w = 3*u", A + "<u, u> >= 1"), {"u": (*PLANE, ["0", "-1"]), "w": PLANE}
    ),
    "a square below 0": ((A + "y**2 <= 0 - 1",), {"y": SMALL}),
}  # fmt: skip


def at(facts: tuple[str, ...], values: dict[str, Any]) -> str:
    """What the verifier says of a record with these facts at a point."""
    line = ("all", "dist2_1 >= dist2_1", {"rule": "sum"})
    point = {"numbers": {**FACTS_AT, **values}, "functions": {}}
    return said(record(facts, [line], point=point, claim="dist2_1 >= dist2_1"))


def points(choices: dict[str, Any], most: int = 250) -> Any:
    return (dict(zip(choices, x, strict=True)) for x in islice(product(*choices.values()), most))


def test_the_point_meets_the_hypotheses_of_the_lemma() -> None:
    assert at((), {}) == ""
    assert "the fact 'domain mu' does not hold" in at((), {"mu": "0"})
    assert "the fact 'condition step size' does not hold" in at((), {"eta": "1"})
    assert "n is not an integer" in at((), {"n": "3/2"})
    assert at(("metric: f(0) >= 0",), {}) != ""  # nothing says what f is


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_no_point_meets_what_is_contradictory(name: str) -> None:
    facts, choices = CONTRADICTORY[name]
    for values in points(choices, 100):
        assert "at the point: " in at(facts, values), values


@pytest.mark.parametrize("name", [
    "numbers", "an empty interval", "the product is longer than the vectors",
    "two values of one vector",
])  # fmt: skip
def test_each_hypothesis_is_needed(name: str) -> None:
    """Without one of them there are points that meet the others."""
    facts, choices = CONTRADICTORY[name]
    for left_out in facts:
        rest = tuple(f for f in facts if f != left_out)
        assert any(at(rest, values) == "" for values in points(choices)), left_out


@pytest.mark.parametrize("name", CONTRADICTORY)
def test_what_rests_on_hypotheses_that_nobody_met_says_so(name: str) -> None:
    facts, _ = CONTRADICTORY[name]
    line = ("all", "dist2_1 >= dist2_1", {"rule": "sum"})
    one = v.Record(record_file(folder(), LEMMA), data=record(facts, [line], claim="dist2_1 >= dist2_1"))
    one.check()
    assert MET in one.rests


def test_a_point_says_nothing_that_it_does_not_show() -> None:
    broken: tuple[Any, ...] = (
        {"y": "1", "u": ["1", "0", "0"]},
        {"y": ["1", "0"]},
        {"y": "u"},
        {"y": "0.5"},
        {"u": "y"},
    )
    for values in (*broken, {"y": "1/0"}):
        assert at((A + "<u, u> >= y",), values)
    assert at((A + "<u, u> >= y",), {"y": "1", "u": ["1", "0"]}) == ""
    assert at(("definition: y == mu + 1", A + "<u, u> >= y"), {"u": ["2", "0"]}) == ""
    assert at(("definition: y == mu + 1", A + "<u, u> >= y"), {"u": ["1", "0"]})
    assert at(("definition: y == mu + 1",), {"y": "2"}) == ""
    assert "the fact 'f0' does not hold" in at(("definition: y == mu + 1", A + "y <= 0"), {"y": "0"})
