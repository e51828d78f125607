"""The sequential test of sampled curves: its edges, and its measured level and power."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from compare_tools import benchmark

from boundcheck.errors import BadInput
from boundcheck.evidence.confidence import ASSUMPTIONS, Decision, SequentialTest, useful_envelope
from boundcheck.evidence.eprocess import RARE

bench = benchmark("confidence_level")
LAWS = [bench.normal(), bench.lognormal(), bench.rare(), bench.rare(1.0, moment_ratio=10.0)]
EXACT = [bench.FEDAVG, bench.FEDAVG_NEAR]  # sampled curves whose expectation the exact engine knows
RUNS = [*EXACT, bench.RESHUFFLED]
POOL = 10_000


def _lognormal(seeds: int, rounds: int = 4, seed: int = 5) -> np.ndarray:
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
    values, bound = _lognormal(200), np.array([0.4, 0.9, 1.0, 3.0])
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
    values, bound = _lognormal(400), np.array([0.8, 1.0, 3.0, 4.0])
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
    source, missed, narrow_missed = bench.lognormal(), 0, 0
    generator = np.random.default_rng(11)
    for _ in range(60):
        test = SequentialTest(source.mean, level=0.8).update(source.draw(generator, 100))
        missed += bool(((test.lower > source.mean) | (test.upper < source.mean)).any())
        narrow = test.mean + (test.lower - test.mean) / 4
        narrow_missed += bool((narrow > source.mean).any())
    assert missed <= 0.2 * 60
    assert narrow_missed > 0.2 * 60


def test_simulation_takes_the_steps_of_the_test() -> None:
    values = np.exp(np.random.default_rng(3).standard_normal((120, 7, 3)))  # seeds, replications, rounds
    bound, rows = np.array([1.2, 2.0, 5.0]), iter(values)
    found = bench.simulate(
        lambda generator, size: next(rows),
        bound,
        seeds=120,
        replications=7,
        levels=(0.8, 0.95),
        generator=np.random.default_rng(0),
    )
    assert (found.exceeds > 0).any()
    for k, level in enumerate(found.levels):
        for r in range(7):
            test, first = SequentialTest(bound, level), 0
            for n in range(120):
                test = test.update(values[n : n + 1, r])
                if test.decision is Decision.EXCEEDS:
                    first = n + 1
                    break
            assert found.exceeds[k, r] == first
    easy = bench.simulate(
        lambda generator, size: np.zeros((size, 1)),
        [1.0],
        seeds=200,
        replications=2,
        levels=(0.999,),
        generator=np.random.default_rng(0),
    )
    n = int(easy.within[0, 0])
    assert n > 0
    assert SequentialTest(np.array([1.0])).update(np.zeros((n, 1))).decision is Decision.WITHIN
    assert SequentialTest(np.array([1.0])).update(np.zeros((n - 1, 1))).decision is Decision.UNDECIDED


ONE = np.array([1.0])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: SequentialTest(ONE).update([[1.0], [np.nan]]), "nan at seed number 1 and compared round number 0"),
        (lambda: SequentialTest(ONE).update([[1.0]] * 2).update([[-1.0]]), "-1 at seed number 2"),
        (lambda: SequentialTest(ONE).update([[1.0, 1.0, 1.0]]), r"shape \(1, 3\)"),
        (lambda: SequentialTest(ONE).update([1.0, 1.0]), r"shape \(2,\)"),
        (lambda: SequentialTest(ONE, envelope=np.array([0.4])).update([[0.5]]), r"above its envelope 0\.4"),
        *((lambda v=v: SequentialTest(np.array(v)), "The bound") for v in ([np.nan], [-1.0], [np.inf], [], [[1.0]])),
        *((lambda v=v: SequentialTest(ONE, level=v), "level") for v in (0.0, 1.0, 99.9, np.nan)),
        *((lambda v=v: SequentialTest(ONE, least_probability=v), "least_prob") for v in (0.0, -0.1, 1.1, np.nan)),
        *(
            (lambda v=v: SequentialTest(ONE, envelope=np.array(v)), "envelope has to hold 1")
            for v in ([1.0, 2.0], [np.nan], [-1.0])
        ),
    ],
)
def test_bad_input(call: Callable[[], object], named: str) -> None:
    with pytest.raises(BadInput, match=named):
        call()


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


@pytest.mark.parametrize("source", LAWS, ids=lambda s: s.name)
def test_source_has_the_stated_expectation(source: bench.Source) -> None:
    values = source.draw(np.random.default_rng(8), 40_000)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - source.mean) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("runs", EXACT, ids=lambda r: r.name)
def test_sampled_mean_agrees_with_the_exact_expectation(runs: bench.Runs) -> None:
    """Within its standard error, which is small enough to notice one local step less."""
    assert (np.abs(bench.deviations(runs, POOL)) <= bench.AGREEMENT).all()
    values, other = bench.pool_of(runs, POOL), runs._replace(E=3).expectation()
    assert (np.abs(values.mean(axis=0) - other) / values.std(axis=0) * np.sqrt(POOL)).max() > 4 * bench.AGREEMENT


def test_fresh_seeds_are_each_given_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "CHUNK", 4)
    source, generator = bench.fresh(bench.FEDAVG, 5), np.random.default_rng(1)
    parts = [source.draw(generator, size) for size in (3, 1, 6)]
    np.testing.assert_array_equal(np.concatenate(parts), bench.FEDAVG.curves(range(5, 15)))


def test_pool_is_drawn_with_replacement() -> None:
    source, values = bench.pool(bench.RESHUFFLED, 50), bench.pool_of(bench.RESHUFFLED, 50)
    np.testing.assert_array_equal(values, bench.RESHUFFLED.curves(range(50)))
    assert np.unique(values[:, 0]).size == 50
    np.testing.assert_allclose(source.mean, values.mean(axis=0))
    drawn = source.draw(np.random.default_rng(1), 1000)
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    np.testing.assert_array_equal(rows, np.unique(values, axis=0))
    assert counts.max() < 50


# what makes the source, seeds, replications; 10^4 replications of 1000 seeds take about 10 s a source
QUICK = [
    *((lambda source=law: source, 250, 2000) for law in LAWS),
    *((partial(bench.pool, runs, POOL), 250, 2000) for runs in RUNS),
    (partial(bench.fresh, bench.FEDAVG_NEAR, POOL), 50, 2000),
]
IN_FULL = [
    *((lambda source=law: source, 1000, 10_000) for law in LAWS),
    *((partial(bench.pool, runs, 100_000), 1000, 10_000) for runs in RUNS),
    *((partial(bench.fresh, runs, 100_000), 250, 10_000) for runs in EXACT),
]


@pytest.mark.parametrize(
    ("source", "seeds", "replications"), [*QUICK, *(pytest.param(*row, marks=pytest.mark.slow) for row in IN_FULL)]
)
def test_false_alarms(source: Callable[[], bench.Source], seeds: int, replications: int) -> None:
    """The 99 % upper limit of every false-alarm rate is below 1.2 times the level."""
    for claim, nominal, count, limit in bench.false_alarms(source(), seeds=seeds, replications=replications):
        assert limit < 1.2 * nominal, (claim, nominal, count)


def test_limits_of_a_share_are_exact() -> None:
    assert bench.share_limits(0, 100, 0.99) == (0, pytest.approx(1 - 0.01 ** (1 / 100), rel=1e-12))
    # 1 - p^2 ... P(at most 1 of 2) = 0.01, and P(at least 1 of 2) = 0.01
    assert bench.share_limits(1, 2, 0.99) == pytest.approx((1 - 0.99**0.5, 0.99**0.5), rel=1e-12)
    assert bench.share_limits(5, 5, 0.99) == (pytest.approx(0.01 ** (1 / 5), rel=1e-12), 1.0)


def test_measurement_sees_a_wrong_test() -> None:
    """A least probability stated too large, an envelope too small, or a bound below the expectation is found out."""
    source = bench.rare(0.5, moment_ratio=10.0)  # 5.67 with probability 0.027
    wrong = bench.simulate(
        source.draw,
        source.mean,
        seeds=250,
        replications=1000,
        levels=(0.95,),
        generator=np.random.default_rng(2),
        least_probability=0.2,
    )
    assert (wrong.within > 0).mean() > 0.06
    clipped = bench.simulate(
        lambda generator, size: np.minimum(source.draw(generator, size), 1.5),
        source.mean,
        seeds=250,
        replications=1000,
        levels=(0.95,),
        generator=np.random.default_rng(2),
        envelope=np.full(source.mean.size, 1.5),
    )
    assert (clipped.within > 0).mean() > 0.06  # its mean is 0.53, below the bound
    shifted = bench.measure(bench.lognormal(), 0.8, seeds=250, replications=500)
    assert ((shifted.exceeds > 0).mean(axis=1) > 0.3).all()


def test_power_at_a_bound_ten_per_cent_too_small() -> None:
    for source in (bench.normal(), bench.pool(bench.FEDAVG, POOL)):
        found = bench.measure(source, 0.9, seeds=120, replications=300)
        assert (found.exceeds > 0).all()
    for runs in (bench.FEDAVG_NEAR, bench.RESHUFFLED):
        found = bench.measure(bench.pool(runs, POOL), 0.9, seeds=400, replications=200)
        assert ((found.exceeds > 0).mean(axis=1) > [0.97, 0.95]).all()
        assert not found.within.any()
