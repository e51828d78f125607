"""The sequential test of sampled curves: its edges. `test_measured_statistics` has its measured level and power."""

from __future__ import annotations

import json

import numpy as np
import pytest

from boundcheck.evidence.confidence import ASSUMPTIONS, Decision, SequentialTest, useful_envelope
from boundcheck.evidence.eprocess import RARE


def lognormal(seeds: int, rounds: int = 4, seed: int = 5) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).standard_normal((seeds, rounds)) - 0.5)


def test_every_round_has_to_be_within() -> None:
    """One round far inside, one above its bound, or just undecided: least evidence decides, not most."""
    values = np.column_stack([np.full(400, 0.1), 1 + 0.3 * np.random.default_rng(2).uniform(-1, 1, 400)])
    for bound in ([1.0, 0.95], [1.0, 1.0]):
        test = SequentialTest(np.array(bound)).update(values)
        assert test.decision is not Decision.WITHIN
        assert SequentialTest(np.array(bound[:1])).update(values[:, :1]).decision is Decision.WITHIN
        certain = SequentialTest(np.array(bound), envelope=np.array([1.0, 1.3])).update(values)
        assert certain.decision is not Decision.WITHIN
        mixed = SequentialTest(np.array(bound), envelope=np.array([0.5, np.inf])).update(values)
        assert mixed.decision is not Decision.WITHIN
    assert SequentialTest(np.array([1.0, 1.5])).update(values).decision is Decision.WITHIN


def test_a_certified_envelope() -> None:
    test = SequentialTest(np.array([1.0, 2.0]), envelope=np.array([0.9, 1.5]))
    assert (test.seeds, test.decision) == (0, Decision.WITHIN)  # no seed needs to be seen
    halves = np.full((60, 1), 0.5)
    narrow = SequentialTest(np.array([1.0]), envelope=np.array([3.0])).update(halves)
    assert (narrow.decision, narrow.has_envelope, narrow.seeds_needed) == (Decision.WITHIN, True, 0)
    assert SequentialTest(np.array([1.0])).update(halves).decision is Decision.UNDECIDED  # too few to see what is rare
    wide = SequentialTest(np.array([1.0]), envelope=np.array([300.0])).update(np.full((400, 1), 0.5))
    assert wide.decision is Decision.UNDECIDED
    bounds, tops = np.array([1.0, 1.0, 1.0, 0.0, 2.0]), np.array([20.0, 20.5, np.inf, 0.0, 0.5])
    assert useful_envelope(tops, bounds).tolist() == [20.0, np.inf, np.inf, 0.0, 0.5]


def test_a_known_least_probability_waits_for_it() -> None:
    values = np.full((757, 1), 0.5)
    patient = SequentialTest(np.array([1.0]), least_probability=1e-2)
    assert patient.seeds_needed == 757  # 0.99^756 > 0.0005 >= 0.99^757
    assert patient.update(values[1:]).decision is Decision.UNDECIDED
    assert patient.update(values).decision is Decision.WITHIN


def test_exactly_at_the_bound_stays_undecided() -> None:
    test = SequentialTest(np.array([2.0, 0.1])).update(np.tile([2.0, 0.1], (3000, 1)))
    assert test.decision is Decision.UNDECIDED
    assert test.e_value == 1.0


def test_diverged_seed_exceeds_with_certainty() -> None:
    test = SequentialTest(np.array([1.0, 1.0])).update([[0.0, 0.0], [0.0, np.inf], [0.0, 0.0]])
    assert test.decision is Decision.EXCEEDS
    assert test.worst_round == 1
    assert np.isinf(test.mean[1])
    assert np.isinf(test.lower[1])
    assert np.isinf(test.upper[1])
    assert test.lower[0] == 0
    late = SequentialTest(np.array([1.0])).update(np.zeros((500, 1)))
    assert late.decision is Decision.WITHIN
    assert late.update([[np.inf]]).decision is Decision.EXCEEDS  # the claim with fewer assumptions takes precedence


def test_zero_bound() -> None:
    test = SequentialTest(np.array([0.0]))
    assert test.update([[0.0], [1e-300]]).decision is Decision.EXCEEDS
    zeros = test.update(np.zeros((300, 1)))
    assert zeros.decision is Decision.WITHIN
    assert (zeros.lower[0], zeros.upper[0]) == (0.0, 0.0)
    assert test.update(np.zeros((3, 1))).upper[0] == np.inf


def test_one_large_seed_withholds_within() -> None:
    """Nothing seen is above the bound, but one seed carries the whole mean; and what was believed can be taken back."""
    values = np.full((2000, 1), 1e-3)
    early = SequentialTest(np.array([1.0])).update(values)
    assert early.decision is Decision.WITHIN
    late = early.update([[5000.0]])
    assert late.e_within < early.e_within
    assert late.decision is Decision.UNDECIDED
    values[3] = 900.0
    assert SequentialTest(np.array([1.0])).update(values).decision is Decision.UNDECIDED


def test_bound_just_above_a_steady_curve() -> None:
    """Values that hardly vary, 0.1 % below the bound: decided by how many of them reach it, not by their distance."""
    values = 0.999 + 1e-4 * np.random.default_rng(6).standard_normal((200, 3))
    assert SequentialTest(np.ones(3)).update(values).decision is Decision.WITHIN
    assert SequentialTest(np.full(3, 0.999)).update(values).decision is Decision.UNDECIDED
    rounding = np.full((1000, 1), 1 - 1e-15)
    assert SequentialTest(np.ones(1)).update(rounding).decision is Decision.UNDECIDED


@pytest.mark.parametrize("cuts", [(), (1,), (1, 2, 3, 64), tuple(range(1, 200)), (0, 100, 100)])
def test_batches_do_not_matter(cuts: tuple[int, ...]) -> None:
    values, bound = lognormal(200), np.array([0.4, 0.9, 1.0, 3.0])
    whole = SequentialTest(bound).update(values)
    parts = SequentialTest(bound)
    for chunk in np.split(values, cuts):
        parts = parts.update(chunk)
    assert parts.seeds == 200
    assert parts.e_value == whole.e_value
    assert parts.e_within == whole.e_within
    assert parts.decision is whole.decision
    for name in ("mean", "lower", "upper", "samples"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_update_leaves_the_old_test_and_the_callers_buffer_alone() -> None:
    old, values = SequentialTest(np.array([1.0])), np.array([[5.0]])
    new = old.update(values)
    values[0, 0] = 7.0
    assert (old.seeds, old.e_value) == (0, 1.0)
    assert new.samples[0, 0] == 5.0
    with pytest.raises(ValueError, match="read-only"):
        new.bound[0] = 3.0


@pytest.mark.parametrize("power", [-900, 900])
def test_units_do_not_matter(power: int) -> None:
    values, bound = lognormal(400), np.array([0.8, 1.0, 3.0, 4.0])
    plain = SequentialTest(bound).update(values)
    scaled = SequentialTest(bound * 2.0**power).update(values * 2.0**power)
    assert scaled.e_value == plain.e_value
    assert scaled.e_within == plain.e_within
    np.testing.assert_allclose(scaled.lower, plain.lower * 2.0**power, rtol=1e-12)
    np.testing.assert_allclose(scaled.upper, plain.upper * 2.0**power, rtol=1e-12)


def test_extreme_magnitudes_do_not_overflow() -> None:
    tiny = SequentialTest(np.array([5e-324, 1.0, 1e308]))
    test = tiny.update([[1e308, 1e308, 0.0], [0.0, 0.0, 1e308]] * 3)
    assert test.decision is Decision.EXCEEDS
    assert np.isfinite(test.e_value)
    assert 1e299 < SequentialTest(np.array([1.0])).update(np.full((4000, 1), 4.0)).e_value <= 1e300


def test_lower_limit_is_where_the_decision_turns() -> None:
    """One side of two, one round: the band at 0.98 uses what a decision at 0.99 uses. Growth makes the end the peak."""
    values = np.tile([[2.0], [1.0]], (300, 1))
    limit = SequentialTest(np.array([1.0]), level=0.98).update(values).lower[0]
    assert 1 < limit < 1.5
    below, above = (SequentialTest(np.array([limit * f]), level=0.99).update(values[:-1]) for f in (0.98, 1.02))
    assert below.decision is Decision.EXCEEDS
    assert above.decision is Decision.UNDECIDED


def test_upper_limit_is_where_the_decision_turns() -> None:
    values = np.full((120, 1), 1.5)
    limit = SequentialTest(np.array([1.0]), level=0.98).update(values).upper[0]
    for factor, expected in ((1 + 1e-6, Decision.WITHIN), (1 - 1e-6, Decision.UNDECIDED)):
        assert SequentialTest(np.array([limit * factor]), level=0.99).update(values).decision is expected
    many = SequentialTest(np.array([1.0]), level=0.98).update(np.full((900, 1), 1.5))
    assert 1.5 < many.upper[0] < 1.5 * (1 + 1e-5)  # enough seeds: all below the limit


def test_band_covers_all_rounds() -> None:
    """The level is 0.8 and the band is conservative; one with a quarter of its reach below would fail this."""
    mean, missed, narrow_missed = np.ones(2), 0, 0
    for seed in range(40):
        test = SequentialTest(mean, level=0.8).update(lognormal(100, 2, seed))
        missed += bool(((test.lower > mean) | (test.upper < mean)).any())
        narrow_missed += bool((test.mean + (test.lower - test.mean) / 4 > mean).any())
    assert missed <= 0.2 * 40 < narrow_missed


def test_summary_and_assumptions() -> None:
    test = SequentialTest(np.array([1.0]), least_probability=0.1)
    assert test.update([[1.0]]).summary()["seeds"] == 1
    assert (test.seeds, test.decision, test.mean[0], test.upper[0]) == (0, Decision.UNDECIDED, 0.0, np.inf)
    account = json.loads(json.dumps(test.summary()))
    assert account["assumptions"] == ASSUMPTIONS
    assert (account["least_probability"], account["missed"], account["seeds_needed"]) == (0.1, 1.0, 73)
    certain = SequentialTest(np.array([1.0]), envelope=np.array([2.0])).summary()
    assert (certain["least_probability"], certain["missed"], certain["seeds_needed"]) == (None, None, 0)
    assert RARE == 0.05
    assert "UNDECIDED, 0 seeds" in repr(test)
