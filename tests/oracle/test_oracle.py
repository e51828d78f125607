"""What must not change by accident: statements, steps of derivations and witnesses are as frozen in the files beside.

The verdicts of the examples are compared where `tests/test_examples.py` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from claim_mutations import Claims

from boundcheck.theory.symbols import common
from tests.oracle import evidence, statements
from tests.oracle.frozen import check, differences, load


@pytest.mark.parametrize(("part", "found"), [("steps", evidence.steps), ("witnesses", evidence.witnesses)])
def test_as_frozen(part: str, found: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
    check(part, found())


def test_statements_are_as_frozen() -> None:
    """Those that are new are held by their values alone until the file is written anew."""
    known, found = load("statements"), statements.described()
    check("statements", {id: fields for id, fields in found.items() if id in known})


def test_every_claim_is_frozen_or_has_a_reason() -> None:
    frozen = (*evidence.CHECKED, *evidence.CHECKED_ONE_BY_ONE)
    assert {*frozen, *evidence.NOT_FROZEN} == set(evidence.stems())
    names = {f"{stem}: {name}" for stem in frozen for name in Claims(evidence.EXAMPLES / f"{stem}.toml")}
    assert set(load("verdicts")) == names


def test_a_difference_names_item_and_field() -> None:
    frozen = {"a/b/c": {"bound": "1", "kind": "limit"}, "a/b/d": {"bound": "1"}}
    found = {"a/b/c": {"bound": "2", "kind": "limit"}, "a/b/e": {"bound": "1"}}
    assert differences(frozen, found) == ["a/b/d: is gone", "a/b/e: is new", "a/b/c: bound was 1, is 2"]


def test_the_order_of_terms_is_no_difference() -> None:
    x, y = common.mu.expr, common.L.expr
    assert statements.tree(x * y + 1) == statements.tree(1 + y * x)
    assert statements.tree(x >= y) == statements.tree(y <= x) != statements.tree(x <= y)
    assert statements.tree(x * (x + y)) != statements.tree(x**2 + x * y)
