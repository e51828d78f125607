"""What a verdict takes for granted: every hypothesis that nobody decided or sampled is named in its reason."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from boundcheck.evidence.compare import compare
from boundcheck.theory.assumptions import zero_at_start
from boundcheck.theory.statement import Condition
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


def test_one_of_each() -> None:
    everything = curve([1, 0.4])
    assert "granted" not in compare(HALVING, everything).reason
    assert compare(HALVING, everything).grade is Grade.EXACT
    found = compare(ALL, everything)
    assert found.reason.endswith(" Taken for granted: assumption zero_at_start.")
    assert found.grade is Grade.SUPPORTED
    found = compare(HALVING, curve([1, 0.4], algorithms=None))
    assert found.reason.endswith(" Taken for granted: that the run is scgd.")
    assert found.grade is Grade.SUPPORTED
    constants = {k: v for k, v in everything.constants.items() if k != "n"}
    found = compare(HALVING, curve([1, 0.4], constants=constants), {"n": 2})
    assert found.reason.endswith(" Taken for granted: the given value of n.")
    assert found.grade is Grade.SUPPORTED


def test_a_violation_names_it_too() -> None:
    found = compare(ALL, curve([1, 0.6]))
    assert (found.outcome, found.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    assert found.reason.endswith(" Taken for granted: assumption zero_at_start.")


def test_what_was_sampled_is_not_granted() -> None:
    found = compare(HALVING, curve([1, 0.4], assumptions={"strong_quasi_convexity": "sampled"}))
    assert "granted" not in found.reason
    assert found.grade is Grade.SUPPORTED


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


def test_a_constant_of_the_run_is_not_granted() -> None:
    found = compare(HALVING, curve([1, 0.4]), {"dist2_0": known(1)})
    assert "granted" not in found.reason


def test_a_constant_object_that_nobody_checks_is_granted() -> None:
    lacking = {k: v for k, v in curve([1, 0.4]).constants.items() if k != "n"}
    found = compare(HALVING, curve([1, 0.4], constants=lacking), {"n": known(2)})
    assert found.reason.endswith(" Taken for granted: the given value of n.")
    assert found.grade is Grade.SUPPORTED
