"""Every option of every kind of method gives the curves that are frozen, on two problems; no two rows are one method.

What the frozen values themselves are held against: `test_options_by_hand`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from boundcheck.methods.build import kind_of, kinds
from tests.oracle import options
from tests.oracle.frozen import check

OF_CLIENTS = {"momentum_l", "weight_decay_l", "clip_l"}  # the exact engine refuses them
VALUES = [f"{where} {name}" for where in options.PROBLEMS for name in options.METRICS]


def test_every_kind_and_parameter_has_rows() -> None:
    rows = options.rows()
    assert len(rows) == 519
    for kind in kinds():
        specs = [row["spec"] for row in rows.values() if row["spec"]["kind"] == kind]
        assert specs, kind
        for name, usual in kind_of(kind).parameters().items():
            given = {repr(spec.get(name, usual)) for spec in specs}
            assert len(given) > 1 or name in OF_CLIENTS, f"{kind}: {name} has one value in all rows"


def test_rows_are_as_frozen() -> None:
    check("options", options.described())


def test_rows_that_do_the_same_are_one_description_or_say_why() -> None:
    first: dict[tuple[str, ...], str] = {}
    groups: dict[tuple[str, ...], set[str]] = {}  # values -> descriptions without their names
    for row, frozen in options.rows().items():
        values = tuple(frozen[name] for name in VALUES)
        description = repr(replace(options.method_of(frozen["spec"]), name=""))
        known = groups.setdefault(values, set())
        if known and description not in known:
            assert (frozen.get("same_as"), bool(frozen.get("because"))) == (first[values], True), row
        else:
            assert "same_as" not in frozen, row
            first.setdefault(values, row)
        known.add(description)


# A row, and a description that is wrong in one part of it.
WRONG: Mapping[str, Mapping[str, Any]] = {
    "fedshuffle": {"eta_g": "1/2"},
    "fedshuffle_gen": {"weights": ["1/3", "1/2", "1/6"]},
    "fedavgm": {"momentum_g": "1/3"},
    "fedavg_min": {"sampling": "reshuffled"},
    "scgd: order: [2, 0, 1]": {"order": [2, 1, 0]},
    "fedshuffle: E: 2": {"sign": "printed"},
    "scaffold: weights: data": {"start": "gradient"},
}


@pytest.mark.parametrize("row", WRONG)
def test_a_wrong_description_has_other_curves(row: str) -> None:
    frozen = options.rows()[row]
    for where in options.PROBLEMS:
        assert all(
            frozen[name] != value for name, value in options.curve({**frozen["spec"], **WRONG[row]}, where).items()
        )
