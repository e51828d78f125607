"""Points of a comparison, its statistics, what it takes for granted, and numbers in its sentences."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from compare_tools import DOUBLED, HALVING, ORDER2, POWER, about, curve, drawn_start, known, rows, sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.core.numbers import format_apart, format_short
from boundcheck.engines.curve import Arithmetic, Envelope
from boundcheck.errors import BadInput
from boundcheck.evidence import compared_points as points_module
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.theory.assumptions import zero_at_start
from boundcheck.verdict import Grade, Outcome

HOLDS, VIOLATED, FAILED, OUT = Outcome.HOLDS, Outcome.VIOLATED, Outcome.FAILED, Outcome.OUT_OF_SCOPE
EXACT, SUPPORTED, RATIONAL, THIRD = Grade.EXACT, Grade.SUPPORTED, Arithmetic.RATIONAL, Fraction(1, 3)
VALUES = {"mu": Fraction(1, 2), "n": Fraction(2), "dist2_0": Fraction(1)}
BROKEN = {"strong_quasi_convexity": "two minima.", "convexity": "x"}


# --- points without a value -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("unknown", [(False, True, False), (True, True, True)])
def test_a_bound_without_a_value_at_some_points_is_a_failure(
    side: int, unknown: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither side of a comparison with NaN is true, so that such a point would pass unseen."""
    enclose = points_module.enclose

    def gaps(expr: sp.Expr, *rest: Any) -> tuple[np.ndarray, ...]:
        found = enclose(expr, *rest)
        return tuple(np.where(unknown, math.nan, end) if i == side else end for i, end in enumerate(found))

    monkeypatch.setattr(points_module, "enclose", gaps)
    for values in ([1, 0.1, 0.1], [1, 2, 0.1]):
        verdict = compare(HALVING, curve(values))
        assert (verdict.outcome, verdict.reason) == (FAILED, f"The bound has no value at K = {unknown.index(True)}.")


def test_a_metric_without_a_value_at_some_points_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    doubled = replace(HALVING, metric=replace(HALVING.metric, scale=sp.Integer(2)), bound=2 * HALVING.bound)
    enclose = points_module.enclose

    def gaps(expr: sp.Expr, *rest: Any) -> tuple[np.ndarray, ...]:
        found = enclose(expr, *rest)
        return tuple(np.where([False, True, False], math.nan, end) for end in found) if expr == 2 else found

    monkeypatch.setattr(points_module, "enclose", gaps)
    verdict = compare(doubled, curve([1, 0.1, 0.1]))
    assert (verdict.outcome, verdict.reason) == (FAILED, "The run gave no number at round 2.")


# --- compared points ------------------------------------------------------------------------------------------------


def test_which_points_are_compared_and_how_they_are_scaled() -> None:
    # rounds 1 and 3 are in the middle of a cycle of n = 2 rounds
    points = points_of(HALVING, curve([1, 99, 0.4, 99, 0.1], rounds=range(5)), VALUES)
    assert (points.rounds, points.index) == ((0, 2, 4), (0, 1, 2))
    scaled = points_of(ORDER2, curve([0.1, 0.1, 0.1, 0.1]), VALUES)
    for k in range(4):
        product = k * k * Fraction(0.1)
        assert Fraction(float(scaled.low[k])) <= product <= Fraction(float(scaled.high[k]))
    assert scaled.low[3] < scaled.high[3]
    assert (scaled.low[0], scaled.high[0]) == (0, 0)
    exact = points_of(ORDER2, curve(["1/3"] * 4, RATIONAL), VALUES)
    assert exact.exact == (0, Fraction(1, 3), Fraction(4, 3), 3)
    assert not points_of(HALVING, drawn_start(), VALUES).fixed.any()
    known_top = {"dist2": Envelope(np.array([0.9, 0.31]), "by hand")}
    for claimed, tops in ((HALVING, [0.9, 0.31]), (DOUBLED, [1.8, 0.62])):
        assert points_of(claimed, about(0.2, 5, envelopes=known_top), VALUES).envelope == pytest.approx(tops)


def test_what_is_left_out_is_counted() -> None:
    doubles = curve([1, 0.25, 0], rounds=[0, 2, 4000], low=[1, 0.25, 0], high=[1, 0.25, 5e-324])
    for made, negligible in ((doubles, 1), (curve([1, Fraction(1, 2**2000)], RATIONAL, rounds=[0, 4000]), 0)):
        found = compare(HALVING, made)
        assert (found.outcome, found.points, found.details["negligible"]) == (HOLDS, 2, negligible)


@pytest.mark.parametrize(("means", "seeds"), [([0.9, 0.2, 0.05], 400), ([0.9, 0.8, 0.05], 400), ([0.9, 0.2, 0.05], 3)])
def test_statistics_of_sampled_curves(means: list[float], seeds: int) -> None:
    found = compare(HALVING, sampled(rows(means, seeds))).details["statistics"]
    assert found["seeds"] == seeds
    assert "independent" in found["assumptions"]
    assert found["missed"] == pytest.approx(1 - 0.0005 ** (1 / seeds), rel=1e-9)
    assert found["lower"][1] <= means[1] <= float(found["upper"][1])
    assert (found["upper"][1] == "inf") is (seeds == 3)


def test_statistics_of_other_sampled_curves() -> None:
    assert "statistics" not in compare(HALVING, sampled(np.repeat([[0.9, 0.2]], 5, axis=0), expectation=False)).details
    started = compare(HALVING, sampled(rows([0.9, 0.05, 0.01]), start={"dist2": Fraction(9, 10)}))
    assert started.details["statistics"]["lower"][0] == pytest.approx(0.9)
    capped = about(0.2, 400, envelopes={"dist2": Envelope(np.array([0.9, 9.9]), "by hand")})
    assert compare(HALVING, capped).details["statistics"]["missed"] is None
    with pytest.raises(BadInput, match="never negative"):
        compare(POWER, sampled(-rows([1.0, 0.5], 10)))


# --- what a verdict takes for granted -------------------------------------------------------------------------------

BOTH = replace(HALVING, assumptions=(*HALVING.assumptions, zero_at_start))
WITHOUT_N = {k: v for k, v in curve([1, 0.4]).constants.items() if k != "n"}


@pytest.mark.parametrize(
    ("claimed", "made", "given", "granted"),
    [
        (HALVING, {}, {}, ""),
        (HALVING, {}, {"dist2_0": known(1)}, ""),  # a constant of the run
        (HALVING, {}, {"mu": "3/8"}, ""),
        (HALVING, {}, {"mu": "5/8"}, "assumption strong_quasi_convexity"),  # larger than what the problem has decided
        (HALVING, {"assumptions": {}}, {}, "assumption strong_quasi_convexity"),
        (BOTH, {}, {}, "assumption zero_at_start"),
        (HALVING, {"algorithms": None}, {}, "that the run is scgd"),
        (HALVING, {"constants": WITHOUT_N}, {"n": 2}, "the given value of n"),
        (HALVING, {"constants": WITHOUT_N}, {"n": known(2)}, "the given value of n"),  # nobody checks it
        (BOTH, {"algorithms": None, "assumptions": {}, "constants": {}}, {"mu": "1/2", "n": 2, "dist2_0": 1},
         "assumptions strong_quasi_convexity, zero_at_start; that the run is scgd; the given values of n, dist2_0"),
    ],
)  # fmt: skip
def test_what_is_not_decided_is_named_and_caps_the_grade(claimed: Any, made: Any, given: Any, granted: str) -> None:
    for last, outcome in ((0.3, HOLDS), (0.9, VIOLATED)):
        found = compare(claimed, curve([1, last], **made), given)
        assert found.outcome is outcome
        assert found.reason.partition(" Taken for granted: ")[2] == (f"{granted}." if granted else "")
        assert found.grade is (SUPPORTED if granted else EXACT)


def test_sampled_assumptions_cap_the_grade_and_out_of_scope_grants_nothing() -> None:
    found = compare(HALVING, curve([1, 0.6], assumptions={"strong_quasi_convexity": "sampled"}))
    assert (found.outcome, found.grade, "granted" in found.reason) == (VIOLATED, SUPPORTED, False)
    assert found.details["assumptions"] == {"strong_quasi_convexity": "sampled"}
    assert found.details["taken_for_granted"] == ["strong_quasi_convexity"]
    broken = compare(HALVING, curve([1, 0.6], assumptions={}, violations=BROKEN))
    assert (broken.outcome, "granted" in broken.reason) == (OUT, False)
    assert broken.details["violations"] == {"strong_quasi_convexity": "two minima."}
    assert broken.details["assumptions"] == {"strong_quasi_convexity": "broken"}


# --- numbers in sentences -------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.fractions(), st.integers(-(10**6), 10**6), st.integers(0, 25))
def test_different_numbers_look_different(value: Fraction, step: int, power: int) -> None:
    other = value + Fraction(step, 10**power)
    first, second = format_apart(value, other)
    assert (first == second) is (value == other)


def test_format_apart_by_hand() -> None:
    for first, second, texts in (
        (1.0, 1.0000000000000002, ["1", "1.0000000000000002"]),
        (THIRD, Fraction(333333, 10**6), ["0.3333333", "0.333333"]),
        (THIRD, 2, ["1/3", "2"]),
        (-0.0, 0.0, ["0", "0"]),
        (-0.0, 1e-300, ["0", "1e-300"]),
        (math.inf, 1.0, ["inf", "1"]),
        (1 + Fraction(2, 10**75), Fraction(1), ["1 + 2e-75", "1"]),
    ):
        assert format_apart(first, second) == texts
    assert format_short(-0.0) == "0"
