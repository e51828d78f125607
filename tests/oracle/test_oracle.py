"""What must not change by accident: statements, steps of derivations and witnesses are as frozen in the files beside.

The verdicts of the examples are compared where `tests/test_examples_*.py` carry them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from claim_mutations import Claims

from boundcheck.cli import main
from boundcheck.theory.discovery import statement
from boundcheck.theory.symbols import common
from tests.oracle import evidence, statements
from tests.oracle.frozen import check, differences, load


@pytest.mark.parametrize(
    ("part", "found"),
    [("statements", statements.described), ("steps", evidence.steps), ("witnesses", evidence.witnesses)],
)
def test_as_frozen(part: str, found: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
    check(part, found())


def test_how_much_is_frozen() -> None:
    ids = load("statements")
    assert (len({id.rpartition("/")[0] for id in ids}), len(ids)) == (186, 380)
    assert len(load("steps")) == 171
    assert len(load("witnesses")) == 37


def test_every_claim_is_frozen_or_has_a_reason() -> None:
    frozen = (*evidence.CHECKED, *evidence.CHECKED_ONE_BY_ONE)
    assert {*frozen, *evidence.NOT_FROZEN} == set(evidence.stems())
    names = {f"{stem}: {name}" for stem in frozen for name in Claims(evidence.EXAMPLES / f"{stem}.toml")}
    assert set(load("verdicts")) == names


def test_a_difference_names_item_and_field() -> None:
    frozen = {"a/b/c": {"bound": "1", "kind": "limit"}, "a/b/d": {"bound": "1"}}
    found = {"a/b/c": {"bound": "2", "kind": "limit"}, "a/b/e": {"bound": "1"}}
    assert differences(frozen, found) == ["a/b/d: is gone", "a/b/e: is new", "a/b/c: bound was 1, is 2"]


def test_the_way_of_writing_is_told_from_what_is_written() -> None:
    x, y = common.mu.expr, common.L.expr
    assert statements.tree(x * y + 1) == statements.tree(1 + y * x)
    assert statements.tree(x >= y) == statements.tree(y <= x) != statements.tree(x <= y)
    factored, expanded = x * (x + y), x**2 + x * y
    assert statements.tree(factored) != statements.tree(expanded)
    claimed = statement("scgd/theorem_3_3")
    assert statements.values(factored, claimed) == statements.values(expanded, claimed)
    assert statements.values(factored, claimed) != statements.values(factored + x, claimed)


def test_the_claims_about_constants(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one file of claims that no other test carries out by command."""
    monkeypatch.setenv("BOUNDCHECK_STORE", str(tmp_path / "store"))
    file = evidence.EXAMPLES / "fedshuffle_constants.toml"
    code = main(["check", str(file), "--workers", "1", "--json", "--exact"])
    assert evidence.check_verdicts(file.stem, capsys.readouterr().out) == len(Claims(file))
    assert code == 0
