"""What a verdict takes for granted: every hypothesis that nobody decided or sampled is named in its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from boundcheck.evidence.compare import compare
from boundcheck.theory.assumptions import zero_at_start
from boundcheck.theory.statement import Condition, Statement
from boundcheck.verdict import Grade, Outcome
from tests.evidence.compare_tools import HALVING, curve, known, n, q

ALL = replace(HALVING, assumptions=(*HALVING.assumptions, zero_at_start))


def test_everything_that_a_curve_made_by_hand_does_not_say() -> None:
    by_hand = curve([1, 0.4], algorithms=None, assumptions={}, constants={})
    found = compare(ALL, by_hand, {"mu": "1/2", "n": 2, "dist2_0": 1})
    assert (found.outcome, found.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert found.reason.endswith(
        "Taken for granted: assumptions strong_quasi_convexity, zero_at_start; that the run is scgd; "
        "the given values of n, dist2_0."
    )


WITHOUT_N = {k: v for k, v in curve([1, 0.4]).constants.items() if k != "n"}


@pytest.mark.parametrize(
    ("claimed", "made", "given", "granted", "grade"),
    [
        (HALVING, {}, {}, "", Grade.EXACT),
        (HALVING, {}, {"dist2_0": known(1)}, "", Grade.EXACT),  # a constant of the run
        (HALVING, {"assumptions": {"strong_quasi_convexity": "sampled"}}, {}, "", Grade.SUPPORTED),
        (ALL, {}, {}, "assumption zero_at_start", Grade.SUPPORTED),
        (HALVING, {"algorithms": None}, {}, "that the run is scgd", Grade.SUPPORTED),
        (HALVING, {"constants": WITHOUT_N}, {"n": 2}, "the given value of n", Grade.SUPPORTED),
        (
            HALVING,
            {"constants": WITHOUT_N},
            {"n": known(2)},
            "the given value of n",
            Grade.SUPPORTED,
        ),  # nobody checks it
    ],
)
def test_one_of_each(claimed: Statement, made: Any, given: Any, granted: str, grade: Grade) -> None:
    found = compare(claimed, curve([1, 0.4], **made), given)
    assert found.reason.partition(" Taken for granted: ")[2] == (f"{granted}." if granted else "")
    assert found.grade is grade


def test_a_violation_names_it_too() -> None:
    found = compare(ALL, curve([1, 0.6]))
    assert (found.outcome, found.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    assert found.reason.endswith(" Taken for granted: assumption zero_at_start.")


def test_out_of_scope_grants_nothing() -> None:
    broken = curve([1, 0.6], assumptions={}, violations={"strong_quasi_convexity": "it is flat."})
    found = compare(ALL, broken)
    assert found.outcome is Outcome.OUT_OF_SCOPE
    assert "granted" not in found.reason


def test_an_undecided_condition_is_no_comparison() -> None:
    open_ = Condition("open", sp.Ge(sp.log(n) + sp.log(q), 0))  # 0 at mu = 1/2 and n = 2, which is not proved
    for values in ([1, 0.6], [1, 0.4]):
        found = compare(replace(HALVING, conditions=(open_,)), curve(values))
        assert found.outcome is Outcome.UNDECIDED
        assert "condition 'open'" in found.reason
    false = Condition("false", sp.Le(q, sp.Rational(1, 4)))
    found = compare(replace(HALVING, conditions=(open_, false)), curve([1, 0.6]))
    assert found.outcome is Outcome.OUT_OF_SCOPE
