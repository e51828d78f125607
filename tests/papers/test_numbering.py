"""The statements against what the papers number: nothing numbered is left out, and no number is invented."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import boundcheck.papers
from boundcheck.theory import assumptions
from boundcheck.theory.assumptions import Assumption
from boundcheck.theory.discovery import all_statements, papers
from boundcheck.theory.statement import Statement

DATA: dict[str, Any] = tomllib.loads((Path(boundcheck.papers.__path__[0]) / "numbering.toml").read_text("utf-8"))
KNOWN = {a.name for a in vars(assumptions).values() if isinstance(a, Assumption)}


def _place(statement: Statement, places: list[str]) -> str | None:
    """The place that a statement's number names: the number itself, or what follows it after a comma."""
    number = statement.source.number
    fitting = [p for p in places if number == p or number.startswith(f"{p},")]
    return max(fitting, key=len) if fitting else None


def test_the_papers_are_the_shipped_ones() -> None:
    assert set(DATA) == {name for name in papers() if papers()[name].startswith("boundcheck.")}


@pytest.mark.parametrize("paper", sorted(DATA))
def test_every_numbered_claim_has_a_statement_and_every_number_is_the_papers(paper: str) -> None:
    numbered = DATA[paper]["numbered"]
    assert {_place(s, numbered) for s in all_statements(paper)} - {None} == set(numbered)
    kinds = ("Theorem", "Lemma", "Corollary", "Definition", "Example", "Property", "Proposition")
    unknown = [s for s in all_statements(paper) if s.source.number.startswith(kinds) and not _place(s, numbered)]
    assert not unknown, f"numbers that the paper does not have: {[s.source.number for s in unknown]}"


@pytest.mark.parametrize("paper", sorted(set(DATA) - {"classics"}))
def test_numbers_run_without_a_gap(paper: str) -> None:
    runs: dict[str, list[int]] = {}
    for place in DATA[paper]["numbered"]:
        match = re.fullmatch(r"((?:Theorem|Lemma|Corollary|Example|Property)(?: [A-Z0-9]+(?=\.))?)[ .](\d+)", place)
        if match:
            runs.setdefault(match[1], []).append(int(match[2]))
    gaps = {}
    for kind, numbers in runs.items():
        shared = kind in ("Theorem", "Corollary") and paper in ("feddane",)  # one counter for all kinds
        sections = {"Theorem 3", "Lemma 3", "Lemma E"}  # counters that other kinds share
        if not shared and kind not in sections and sorted(numbers) != list(range(1, len(numbers) + 1)):
            gaps[kind] = numbers
    assert not gaps


def test_the_shared_counters_run_without_a_gap() -> None:
    feddane = sorted(int(p.split()[1]) for p in DATA["feddane"]["numbered"])
    assert feddane == [1, 2, 3, 4, 5, 6, 7]
    scgd = sorted(int(p.rpartition(".")[2]) for p in DATA["scgd"]["numbered"] if " 3." in p)
    assert scgd == [1, 2, 3, 4]
    appendix_e = sorted(int(p.rpartition(".")[2]) for p in DATA["fedshuffle"]["numbered"] if " E." in p)
    assert appendix_e == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("paper", sorted(DATA))
def test_numbered_assumptions_are_objects(paper: str) -> None:
    for number, names in DATA[paper]["assumptions"].items():
        unknown = set(names) - KNOWN
        assert not unknown, f"{paper}, {number}: {unknown}"
        used = {a.name for s in all_statements(paper) for a in s.assumptions}
        assert used & set(names), f"{paper}, {number}: no statement uses it"
