"""Every accepted line of every record at random points, by a reader that shares nothing with the verifier."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from random_lines import NOT_EVALUATED, Lines, decided

from boundcheck.proof.discovery import folder

RECORDS = sorted(folder().glob("*/*.proof.json"))


@cache
def evaluated(path: Path) -> tuple[Lines, tuple[Any, ...], int]:
    """The lines of a record, those that can be evaluated, and how many claim something that cannot."""
    data = json.loads(path.read_bytes())
    own = tuple(e for e in data["lines"] if e["by"]["rule"] not in NOT_EVALUATED)
    claimed = sum(e["by"]["rule"] not in ("open", "assumed", "refuted") for e in data["lines"])
    return Lines(data), own, claimed - len(own)


def counted(asked: list[tuple[Path, Any]], seeds: int = 1) -> Counter[str]:
    """How many lines hold, and at how many no point was found; fails with those that do not hold."""
    found, false = Counter[str](), []
    for path, entry in asked:
        lines, answer = evaluated(path)[0], None
        for seed in range(seeds):
            answer = decided(lines, entry, Random(seed)) if answer is None else answer
        found["no point" if answer is None else "holds"] += 1
        false += [f"{path.name}: {entry['name']}"] if answer is False else []
    assert false == []
    return found


def test_a_sample_of_all_lines_holds_at_random_points() -> None:
    every = [(path, entry) for path in RECORDS for entry in evaluated(path)[1]]
    assert len(every) > 5_900
    assert sum(evaluated(path)[2] for path in RECORDS) < 400  # expectations, citations, limits
    found = counted(Random(33).sample(every, 180))
    assert found["holds"] >= 166


@pytest.mark.slow  # 5 minutes for all papers together
@pytest.mark.parametrize("paper", sorted({path.parent.name for path in RECORDS}))
def test_every_line_holds_at_random_points(paper: str) -> None:
    found = counted([(p, e) for p in RECORDS if p.parent.name == paper for e in evaluated(p)[1]], seeds=3)
    assert found["holds"] >= 0.97 * found.total()


NAMES = {"x": "number", "y": "number", "n": "integer", "i": "integer", "a": "function", "u": "vector", "w": "vector"}
FACTS = {"x": "x >= 1", "y": "y <= x", "n": "n >= 1", "w": "w = 2*u", "a": "a(i) >= i", "root": "y**2 == x"}
SUM: dict[str, Any] = {"rule": "sum"}
LINES: list[tuple[str, dict[str, Any], tuple[str, ...], bool]] = [
    ("x**2 >= x", {**SUM, "terms": [["1", ["x"]]]}, (), True),
    ("x**2 > x", {**SUM, "terms": [["1", ["x"]]]}, (), False),
    ("x >= y", {**SUM, "signs": ["y"]}, (), True),
    ("x >= 2*y", {**SUM, "signs": ["y"]}, (), False),
    ("<w, w> == 4*<u, u>", {**SUM, "put": [["w", "w"]]}, (), True),
    ("<w, w> == 2*<u, u>", {**SUM, "put": [["w", "w"]]}, (), False),
    ("<u, w>**2 <= <u, u>*<w, w>", SUM, (), True),
    ("<u, w>**2 >= <u, u>*<w, w>", SUM, (), False),  # it holds on a line
    ("sum(i, n, i) == n*(n - 1)/2", SUM, (), True),
    ("sum(i, n, i) == n*(n + 1)/2", SUM, (), False),
    ("sum(i, n, a(i)) >= n*(n - 1)/2", {"rule": "over", "of": "a", "index": "i", "count": "n"}, (), True),
    ("sum(i, n, a(i)) >= n*n/2", {"rule": "over", "of": "a", "index": "i", "count": "n"}, (), False),
    ("x**(1/2) <= x", {**SUM, "signs": ["x"]}, (), True),
    ("x**(1/2) >= 2", {**SUM, "signs": ["x"]}, (), False),
    ("x**(1/2) == max(y, -y)", {**SUM, "equal": [["root", "1"]], "signs": ["x"]}, (), True),
    ("x**(1/2) == y", {**SUM, "equal": [["root", "1"]], "signs": ["x"]}, (), False),
    ("y <= x**2", {**SUM, "signs": ["x"]}, ("y < x",), True),
    ("0 > 0", {**SUM, "signs": ["x", "y"]}, ("y > x",), True),
    ("0 > 0", {**SUM, "signs": ["x", "y"]}, ("y < x",), False),
    ("y >= 1 => x >= 1", {**SUM, "signs": ["y"]}, (), True),
    ("x >= 1 => y >= 1", {**SUM, "signs": ["y"]}, (), False),
]


@pytest.mark.parametrize(("claim", "by", "supposed", "true"), LINES, ids=str)
def test_a_line_that_does_not_follow_is_noticed(
    claim: str, by: dict[str, Any], supposed: tuple[str, ...], true: bool
) -> None:
    facts = [{"name": n, "claim": c, "kind": "metric"} for n, c in FACTS.items()]
    lines = Lines({"names": NAMES, "facts": facts, "lines": []})
    found = [decided(lines, {"name": "p", "claim": claim, "by": by, "if": supposed}, Random(seed)) for seed in range(6)]
    assert (False not in found) is true
    assert true in found
