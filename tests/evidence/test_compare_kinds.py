"""Comparison at extreme numbers, of other kinds of statements, and on sampled curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from compare_tools import HALVING, D, K, check_json, curve, known, q, sampled

from boundcheck.engines.curve import Arithmetic
from boundcheck.errors import BadInput
from boundcheck.evidence.compare import compare
from boundcheck.evidence.compared_points import points_of
from boundcheck.theory.statement import Condition, Kind
from boundcheck.verdict import Grade, Outcome

# --- extreme numbers --------------------------------------------------------------------------------------


def test_a_diverged_run_violates() -> None:
    for arithmetic, low in ((Arithmetic.BALL, [1, 1e300]), (Arithmetic.FLOAT64, None)):
        c = curve([1, math.inf], arithmetic, low=low, high=None if low is None else [1, math.inf])
        v = compare(HALVING, c)
        assert v.outcome is Outcome.VIOLATED
        check_json(v)
    assert compare(HALVING, c).to_dict()["witness"]["metric"] == ["inf", "inf"]


def test_an_enormous_bound_is_not_exceeded_by_infinity() -> None:
    huge = replace(HALVING, bound=HALVING.bound + 10 ** (400 * K) * D, trivial=None)
    c = curve([1, 1e300], low=[1, 1e300], high=[1, 1.1e300])
    assert compare(huge, c).outcome is Outcome.HOLDS  # 10^400 is above every double
    beyond = curve([1, math.inf], low=[1, 1.7e308], high=[1, math.inf])
    assert compare(huge, beyond).outcome is Outcome.UNDECIDED


def test_a_negative_bound_is_exceeded_by_zero() -> None:
    negative = replace(HALVING, bound=HALVING.bound - 2 * D, trivial=None)
    v = compare(negative, curve([0, 0]))
    assert (v.outcome, v.grade) == (Outcome.VIOLATED, Grade.EXACT)
    # in double precision "equal" is relative to the size of the bound, on the right side of it
    almost = replace(HALVING, bound=-D + 0 * q, trivial=None)
    assert compare(almost, curve([-1 - 1e-12], Arithmetic.FLOAT64)).outcome is Outcome.UNDECIDED
    assert compare(almost, curve([-1.1], Arithmetic.FLOAT64)).outcome is Outcome.HOLDS


def test_both_sides_below_every_double_are_left_out_and_said() -> None:
    # 2^-2000 underflows: the bound is known to lie in [0, 5e-324], the metric too
    c = curve([1, 0.25, 0], rounds=[0, 2, 4000], low=[1, 0.25, 0], high=[1, 0.25, 5e-324])
    v = compare(HALVING, c)
    assert (v.outcome, v.points, v.details["negligible"]) == (Outcome.HOLDS, 2, 1)
    assert "1 more" in v.reason
    alone = curve([0], rounds=[4000], low=[0], high=[5e-324])
    assert compare(HALVING, alone).outcome is Outcome.UNDECIDED
    # a metric that is not negligible is compared with the underflown bound as with any other
    visible = curve([1, 1e-200], rounds=[0, 4000])
    assert compare(HALVING, visible).outcome is Outcome.VIOLATED
    # exact arithmetic needs no double: 2^-2000 is attained
    exact = curve([1, Fraction(1, 2**2000)], Arithmetic.RATIONAL, rounds=[0, 4000])
    assert compare(HALVING, exact).details["negligible"] == 0


# --- other kinds ------------------------------------------------------------------------------------------

POWER = replace(HALVING, kind=Kind.EQUALITY, trivial=None)


def test_equality_in_every_arithmetic() -> None:
    held = compare(POWER, curve([1, "1/2", "1/4"], Arithmetic.RATIONAL))
    assert (held.outcome, held.grade) == (Outcome.HOLDS, Grade.EXACT)
    off = compare(POWER, curve([1, Fraction(1, 2) - Fraction(1, 10**30), "1/4"], Arithmetic.RATIONAL))
    assert (off.outcome, off.grade, off.witness["round"]) == (Outcome.VIOLATED, Grade.EXACT, 2)
    ball = compare(POWER, curve([1, 0.5, 0.25]))
    assert (ball.outcome, ball.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    wide = compare(POWER, curve([1, 0.5], low=[1, 0.1], high=[1, 0.9]))
    assert wide.outcome is Outcome.UNDECIDED
    apart = compare(POWER, curve([1, 0.4], low=[1, 0.4], high=[1, 0.4999999999999]))
    assert (apart.outcome, apart.grade) == (Outcome.VIOLATED, Grade.EXACT)
    floats = compare(POWER, curve([1, 0.5 + 1e-12], Arithmetic.FLOAT64))
    assert (floats.outcome, floats.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    wrong = compare(POWER, curve([1, 0.5001], Arithmetic.FLOAT64))
    assert (wrong.outcome, wrong.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)


def test_equality_of_a_negative_quantity() -> None:
    falling = replace(POWER, bound=-POWER.bound)
    assert compare(falling, curve([-1, "-1/2"], Arithmetic.RATIONAL)).outcome is Outcome.HOLDS
    assert compare(falling, curve([-1, "1/2"], Arithmetic.RATIONAL)).outcome is Outcome.VIOLATED


# limsup K^2 dist2 <= dist2_0
ORDER2 = replace(
    HALVING,
    kind=Kind.LIMSUP,
    metric=replace(HALVING.metric, scale=K**2),
    bound=D,
    trivial=None,
    conditions=(Condition("small", sp.Le(q, sp.Rational(3, 4))),),
)


def test_limsup_is_supported_or_undecided() -> None:
    under = [9.0] * 4 + [0.9 / k**2 for k in range(4, 8)]  # K = 0..7, the last half is below
    v = compare(ORDER2, curve(under))
    assert (v.outcome, v.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    over = [0.0] * 4 + [0.9 / k**2 for k in range(4, 7)] + [1.1 / 49]
    v = compare(ORDER2, curve(over))
    assert (v.outcome, v.grade) == (Outcome.UNDECIDED, Grade.SUPPORTED)


def test_scaled_metrics_are_rounded_outwards_and_scaled_exactly() -> None:
    values = {"mu": Fraction(1, 2), "n": Fraction(2), "dist2_0": Fraction(1)}
    points = points_of(ORDER2, curve([0.1, 0.1, 0.1, 0.1]), values)
    for k in range(4):
        product = k * k * Fraction(0.1)
        assert Fraction(float(points.low[k])) <= product <= Fraction(float(points.high[k]))
    assert (points.low[0], points.high[0]) == (0, 0)
    exact = points_of(ORDER2, curve(["1/3"] * 4, Arithmetic.RATIONAL), values)
    assert exact.exact == (0, Fraction(1, 3), Fraction(4, 3), 3)
    scaled = replace(HALVING, metric=replace(HALVING.metric, scale=2 + 0 * q), trivial=None)
    assert compare(scaled, curve(["1/2", "1/4"], Arithmetic.RATIONAL)).outcome is Outcome.HOLDS
    assert compare(scaled, curve(["1/2", "26/100"], Arithmetic.RATIONAL)).outcome is Outcome.VIOLATED


def test_limit() -> None:
    limit = replace(HALVING, kind=Kind.LIMIT, bound=D, trivial=None)
    arriving = compare(limit, curve([3, 1.5, 1.0005], start=1))
    assert (arriving.outcome, arriving.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert compare(limit, curve([3, 1.5, 1.1])).outcome is Outcome.UNDECIDED
    assert compare(limit, curve([3])).outcome is Outcome.UNDECIDED
    assert compare(limit, curve([3, math.inf], low=[3, 1e300], high=[3, math.inf])).outcome is Outcome.UNDECIDED
    # nothing is within 1/1000 of an infinite distance: bands of sampled runs may be infinite
    for end in (math.inf, 1.0005):
        wide = curve([3, 1, 1], low=[0, 0, 1], high=[math.inf, math.inf, end])
        assert compare(limit, wide).outcome is Outcome.UNDECIDED


# --- sampled curves ---------------------------------------------------------------------------------------


def rows(means: Sequence[float], seeds: int, spread: float = 0.3, seed: int = 0) -> np.ndarray:
    """Uniform on mean*(1 +- spread); round 0 is the same for all seeds."""
    random = np.random.default_rng(seed)
    table = np.array(means) * (1 + spread * random.uniform(-1, 1, size=(seeds, len(means))))
    table[:, 0] = means[0]
    return table


def test_sampled_within_exceeds_and_undecided() -> None:
    # start below the trivial value at round 0, so that round 0 is no obstacle
    held = compare(HALVING, sampled(rows([0.9, 0.2, 0.05], 400)))
    assert (held.outcome, held.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    broken = compare(HALVING, sampled(rows([0.9, 0.8, 0.05], 400)))
    assert (broken.outcome, broken.grade, broken.witness["round"]) == (Outcome.VIOLATED, Grade.SUPPORTED, 2)
    assert "mean over the seeds" in broken.reason
    few = compare(HALVING, sampled(rows([0.9, 0.2, 0.05], 3)))
    assert few.outcome is Outcome.UNDECIDED
    for v in (held, broken, few):
        check_json(v)
        statistics = v.details["statistics"]
        assert statistics["seeds"] == len(rows([1], {"HOLDS": 400, "VIOLATED": 400}.get(v.outcome, 3)))
        assert "independent" in statistics["assumptions"]
        assert statistics["missed"] == pytest.approx(1 - 0.0005 ** (1 / statistics["seeds"]), rel=1e-9)
    assert "could have missed events of probability below 0.0188 (at level 0.999)" in held.reason
    assert few.reason.endswith("149 seeds are needed.")
    assert few.details["statistics"]["upper"][1] == "inf"
    assert held.details["statistics"]["lower"][1] <= 0.2 <= float(held.details["statistics"]["upper"][1])


def test_round_0_is_not_drawn_and_does_not_keep_a_claim_undecided() -> None:
    # at K = 0 metric and bound are both 1/3, for every seed
    table = rows([1 / 3, 0.05, 0.01], 400)
    c = replace(sampled(table), constants={**sampled(table).constants, "dist2_0": known("1/3")})
    assert compare(HALVING, c).outcome is Outcome.UNDECIDED  # by doubles alone
    v = compare(HALVING, replace(c, start={"dist2": Fraction(1, 3)}))
    assert v.outcome is Outcome.HOLDS
    assert v.details["statistics"]["lower"][0] == pytest.approx(1 / 3)


def test_a_metric_of_the_round_that_begins_at_the_start_is_drawn() -> None:
    """At round 0 such a metric differs between seeds: their mean is no exact value of it."""
    table = rows([1.0, 0.05], 400)
    table[:, 0] = 1.001 + 0.3 * np.tile([1, -1], 200)
    points = points_of(HALVING, sampled(table), {"mu": Fraction(1, 2), "n": Fraction(2), "dist2_0": Fraction(1)})
    assert not points.fixed.any()
    assert table[:, 0].mean() == pytest.approx(1.001)  # above the bound 1, by a fifteenth of its standard error
    assert compare(HALVING, sampled(table)).outcome is Outcome.UNDECIDED


def test_a_random_start_above_the_bound_is_seen_exactly() -> None:
    c = sampled(rows([2.0, 0.05], 400))
    assert compare(HALVING, replace(c, start={"dist2": Fraction(2)})).outcome is Outcome.VIOLATED


def test_a_deterministic_method_on_the_sampled_engine_needs_no_statistics() -> None:
    table = np.repeat(np.array([[0.9, 0.2]]), 5, axis=0)
    v = compare(HALVING, replace(sampled(table), expectation=False))
    assert (v.outcome, v.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    assert "statistics" not in v.details


def test_sampled_bounds_that_are_negative_or_beyond_the_doubles() -> None:
    table = rows([0.9, 0.2, 0.05], 400)
    negative = replace(HALVING, bound=HALVING.bound - 2 * D, trivial=None)
    assert compare(negative, sampled(table)).outcome is Outcome.VIOLATED
    huge = replace(HALVING, bound=HALVING.bound + 10 ** (400 * K) * D, trivial=None)
    assert compare(huge, sampled(table)).outcome is Outcome.HOLDS
    diverged = table.copy()
    diverged[7, 2] = math.inf
    assert compare(HALVING, sampled(diverged)).outcome is Outcome.VIOLATED
    assert compare(huge, sampled(diverged)).outcome is Outcome.UNDECIDED
    check_json(compare(HALVING, sampled(diverged)))


def test_a_heavy_sample_is_not_called_within() -> None:
    table = np.full((400, 2), 1e-3)
    table[:, 0] = 0.9
    table[7, 1] = 100.0  # mean 0.251, half of the bound 1/2, from one seed
    v = compare(HALVING, sampled(table))
    assert v.outcome is Outcome.UNDECIDED
    assert "too close to decide at K = 1" in v.reason
    table[7, 1] = 5.0  # seen by others, such a value would keep the mean below the bound
    assert compare(HALVING, sampled(table)).outcome is Outcome.HOLDS


def test_other_kinds_on_sampled_curves_use_the_band() -> None:
    off = compare(POWER, sampled(rows([1.0, 0.9], 400), start={"dist2": Fraction(1)}))
    assert (off.outcome, off.grade) == (Outcome.VIOLATED, Grade.SUPPORTED)
    near = compare(POWER, sampled(rows([1.0, 0.5], 400), start={"dist2": Fraction(1)}))
    assert near.outcome is Outcome.UNDECIDED
    under = compare(ORDER2, sampled(rows([1.0, 0.2, 0.05], 400)))
    assert (under.outcome, under.grade) == (Outcome.HOLDS, Grade.SUPPORTED)
    close = compare(ORDER2, sampled(rows([1.0, 0.99, 0.2475], 400)))
    assert close.outcome is Outcome.UNDECIDED  # below 1 on average, not known to be
    with pytest.raises(BadInput, match="never negative"):
        compare(POWER, sampled(-rows([1.0, 0.5], 10)))
