"""Curves with one wrong part: each is refused where it is made, or its verdict is right about the numbers it holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from compare_tools import HALVING, curve, sampled
from hypothesis import given, settings
from hypothesis import strategies as st

from boundcheck.engines.curve import Arithmetic, Curve
from boundcheck.errors import BadInput
from boundcheck.evidence.compare import compare
from boundcheck.verdict import Outcome

HELD, BROKEN = ["9/10", "1/5", "1/20"], ["9/10", "4/5", "1/20"]  # dist2 at the rounds 0, 2, 4; the bound is 2^-(r/2)
PARTS = ("rounds", "values", "low", "high", "exact", "samples")
# A change of one of these alone contradicts another part, or is no change to the verdict.
HELD_AGAINST = ("low", "high", "exact", "samples")
FLIPPED = {Outcome.HOLDS: Outcome.VIOLATED, Outcome.VIOLATED: Outcome.HOLDS}


def good(arithmetic: Arithmetic, values: list[str]) -> Curve:
    if arithmetic is not Arithmetic.SAMPLED:
        return curve(values, arithmetic)
    spread = np.random.default_rng(1).uniform(0.7, 1.3, size=(400, 3))
    spread[:, 0] = 1
    return sampled(np.array([float(Fraction(v)) for v in values]) * spread)


GOOD = {
    (arithmetic, expected): good(arithmetic, values)
    for arithmetic in Arithmetic
    for expected, values in ((Outcome.HOLDS, HELD), (Outcome.VIOLATED, BROKEN))
}

NUMBERS = st.one_of(
    st.sampled_from([0.0, -1.0, 1e-3, 0.3, 0.6, 2.0, 1e300, math.inf, -math.inf, math.nan]), st.floats(0, 2)
)


def _changed(array: Any, draw: Callable[..., Any]) -> Any:
    """A part of a metric, or the rounds, with one mistake."""
    how = draw(st.sampled_from(["none", "text", "short", "long", "reversed", "entry", "scaled", "flat", "column"]))
    if how in ("none", "text"):
        return {"none": None, "text": "0.5"}[how]
    exact = isinstance(array, tuple)
    table = list(array) if exact else np.array(array)
    if how == "short":
        return table[:-1]
    if how == "long":
        return [*table, table[-1]]
    if how == "reversed":
        return table[::-1]
    if how == "flat":
        return np.array([[float(v) for v in table]]) if np.ndim(table) < 2 else np.array(table)[0]
    if how == "column":
        return np.array(table)[:, :2] if np.ndim(table) == 2 else table[0]
    if how == "scaled":
        factor = draw(st.sampled_from([Fraction(1, 4), Fraction(3), Fraction(-1)]))
        return tuple(v * factor for v in table) if exact else np.array(table) * float(factor)
    number, at = draw(NUMBERS), draw(st.integers(0, 2))
    if exact:
        return tuple(number if i == at else v for i, v in enumerate(table))
    table = np.array(table, dtype=np.float64)
    table[..., at] = number
    return table


@st.composite
def mutations(draw: Callable[..., Any], base: Curve) -> dict[str, Any]:
    """What to replace in a curve: one part, its arithmetic, or what it says of itself."""
    kind = draw(st.sampled_from(["part", "part", "part", "moved", "arithmetic", "expectation", "start", "dropped"]))
    if kind == "arithmetic":
        return {"arithmetic": draw(st.sampled_from([a for a in Arithmetic if a is not base.arithmetic] + [None]))}
    if kind == "expectation":
        return {"expectation": draw(st.sampled_from([not base.expectation, None, "yes"]))}
    if kind == "start":
        return {"start": {"dist2": draw(st.sampled_from([Fraction(2), Fraction(-1), 0.9, None]))}}
    held = [name for name in PARTS if name == "rounds" or getattr(base, name)]
    name = draw(st.sampled_from(held))
    if kind == "dropped":
        return {name: draw(st.sampled_from([None, {}]))}
    if kind == "moved":
        other = draw(st.sampled_from([p for p in PARTS if p != "rounds"]))
        return {other: {"dist2": base.rounds if name == "rounds" else getattr(base, name)["dist2"]}}
    if name == "rounds":
        return {name: _changed(base.rounds, draw)}
    return {name: {"dist2": _changed(getattr(base, name)["dist2"], draw)}}


def _right(found: Outcome, mutated: Curve) -> bool:
    """Whether a verdict agrees with the numbers of the curve, whose bound at round 2 K is 2^-K."""
    even = [i for i, r in enumerate(mutated.rounds) if r % 2 == 0]
    bounds = [Fraction(1, 2 ** (int(mutated.rounds[i]) // 2)) for i in even]
    value, low, high = (getattr(mutated, part).get("dist2") for part in ("values", "low", "high"))
    if mutated.exact:
        low = high = mutated.exact["dist2"]
    lows, highs = value if low is None else low, value if high is None else high
    if found is Outcome.VIOLATED:
        return any(lows[i] > b for i, b in zip(even, bounds, strict=True))
    return found is not Outcome.HOLDS or all(highs[i] <= b for i, b in zip(even, bounds, strict=True))


@pytest.mark.parametrize(("arithmetic", "expected"), GOOD, ids=lambda v: v.value)
def test_good_curves_have_their_verdicts(arithmetic: Arithmetic, expected: Outcome) -> None:
    assert compare(HALVING, GOOD[arithmetic, expected]).outcome is expected


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize(("arithmetic", "expected"), GOOD, ids=lambda v: v.value)
def test_a_mutated_curve_is_refused_or_judged_rightly(
    arithmetic: Arithmetic, expected: Outcome, data: st.DataObject
) -> None:
    base = GOOD[arithmetic, expected]
    change = data.draw(mutations(base))
    try:
        mutated = replace(base, **change)
        found = compare(HALVING, mutated).outcome
    except BadInput:
        return
    assert _right(found, mutated)
    if set(change) <= set(HELD_AGAINST):
        assert found is not FLIPPED[expected]
