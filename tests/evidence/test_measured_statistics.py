"""Measured error rates and power of the sequential test, by the scripts of the folder benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from compare_tools import benchmark

from boundcheck.evidence.confidence import Decision, SequentialTest

bench, honesty = benchmark("confidence_level"), benchmark("honesty")
LAWS = [bench.normal(), bench.lognormal(), bench.rare(), bench.rare(1.0, moment_ratio=10.0)]
EXACT = [bench.FEDAVG, bench.FEDAVG_NEAR]  # sampled curves whose expectation the exact engine knows
RUNS = [*EXACT, bench.RESHUFFLED]
POOL = 10_000
# What makes the source, seeds, replications. 10^4 replications of 1000 seeds take about 10 s a source; the quick ones
# have the law that is hardest to judge and the runs that are nearest to their bound.
QUICK = [(lambda: LAWS[3], 250, 2000), (partial(bench.pool, bench.FEDAVG_NEAR, POOL), 250, 1000)]
IN_FULL = [
    *((lambda source=law: source, 1000, 10_000) for law in LAWS),
    *((partial(bench.pool, runs, 100_000), 1000, 10_000) for runs in RUNS),
    *((partial(bench.fresh, runs, 100_000), 250, 10_000) for runs in EXACT),
]


def simulated(draw: Callable[..., Any], bound: Any, levels: tuple[float, ...] = (0.95,), **how: Any) -> Any:
    return bench.simulate(draw, bound, levels=levels, generator=np.random.default_rng(2), **how)


@pytest.mark.parametrize(
    ("source", "seeds", "replications"), [*QUICK, *(pytest.param(*row, marks=pytest.mark.slow) for row in IN_FULL)]
)
def test_false_alarms(source: Callable[[], Any], seeds: int, replications: int) -> None:
    """The 99 % upper limit of every false-alarm rate is below 1.2 times the level."""
    for claim, nominal, count, limit in bench.false_alarms(source(), seeds=seeds, replications=replications):
        assert limit < 1.2 * nominal, (claim, nominal, count)


def test_measurement_sees_a_wrong_test() -> None:
    """A least probability stated too large, an envelope too small, or a bound below the expectation is found out."""
    source = bench.rare(0.5, moment_ratio=10.0)  # 5.67 with probability 0.027
    how: dict[str, Any] = {"seeds": 250, "replications": 500}
    wrong = simulated(source.draw, source.mean, least_probability=0.2, **how)
    assert (wrong.within > 0).mean() > 0.06

    def clipped(generator: np.random.Generator, size: int) -> np.ndarray:  # its mean is 0.53, below the bound
        return np.minimum(source.draw(generator, size), 1.5)

    certain = simulated(clipped, source.mean, envelope=np.full(source.mean.size, 1.5), **how)
    assert (certain.within > 0).mean() > 0.06
    shifted = bench.measure(bench.lognormal(), 0.8, **how)
    assert ((shifted.exceeds > 0).mean(axis=1) > 0.3).all()


def test_power_at_a_bound_ten_per_cent_too_small() -> None:
    for source in (bench.normal(), bench.pool(bench.FEDAVG, POOL)):
        assert (bench.measure(source, 0.9, seeds=120, replications=300).exceeds > 0).all()
    found = bench.measure(bench.pool(bench.FEDAVG_NEAR, POOL), 0.9, seeds=400, replications=200)
    assert ((found.exceeds > 0).mean(axis=1) > [0.97, 0.95]).all()
    assert not found.within.any()


# --- the scripts ----------------------------------------------------------------------------------------------------


def test_simulation_takes_the_steps_of_the_test() -> None:
    values = np.exp(np.random.default_rng(3).standard_normal((120, 7, 3)))  # seeds, replications, rounds
    bound, rows = np.array([1.2, 2.0, 5.0]), iter(values)
    found = simulated(lambda generator, size: next(rows), bound, (0.8, 0.95), seeds=120, replications=7)
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
    easy = simulated(lambda generator, size: np.zeros((size, 1)), [1.0], (0.999,), seeds=200, replications=2)
    n = int(easy.within[0, 0])
    assert n > 0
    for seeds, decision in ((n, Decision.WITHIN), (n - 1, Decision.UNDECIDED)):
        assert SequentialTest(np.array([1.0])).update(np.zeros((seeds, 1))).decision is decision


@pytest.mark.parametrize("source", LAWS, ids=lambda s: s.name)
def test_source_has_the_stated_expectation(source: Any) -> None:
    values = source.draw(np.random.default_rng(8), 40_000)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - source.mean) <= 4.5 * error + 1e-12).all()


@pytest.mark.parametrize("runs", EXACT, ids=lambda r: r.name)
def test_sampled_mean_agrees_with_the_exact_expectation(runs: Any) -> None:
    """Within its standard error, which is small enough to notice one local step less."""
    assert (np.abs(bench.deviations(runs, POOL)) <= bench.AGREEMENT).all()
    values, other = bench.pool_of(runs, POOL), runs._replace(E=3).expectation()
    assert (np.abs(values.mean(axis=0) - other) / values.std(axis=0) * np.sqrt(POOL)).max() > 4 * bench.AGREEMENT


def test_fresh_seeds_are_each_given_out_once_and_a_pool_is_drawn_with_replacement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, values = bench.pool(bench.FEDAVG, 50), bench.pool_of(bench.FEDAVG, 50)
    np.testing.assert_array_equal(values, bench.FEDAVG.curves(range(50)))
    np.testing.assert_allclose(source.mean, values.mean(axis=0))
    rows, counts = np.unique(source.draw(np.random.default_rng(1), 1000), axis=0, return_counts=True)
    np.testing.assert_array_equal(rows, np.unique(values, axis=0))
    assert len(rows) == 50 > counts.max()
    monkeypatch.setattr(bench, "CHUNK", 4)
    source, generator = bench.fresh(bench.FEDAVG, 5), np.random.default_rng(1)
    parts = [source.draw(generator, size) for size in (3, 1, 6)]
    np.testing.assert_array_equal(np.concatenate(parts), bench.FEDAVG.curves(range(5, 15)))


def test_limits_of_a_share_are_exact() -> None:
    assert bench.share_limits(0, 100, 0.99) == (0, pytest.approx(1 - 0.01 ** (1 / 100), rel=1e-12))
    # 1 - p^2 ... P(at most 1 of 2) = 0.01, and P(at least 1 of 2) = 0.01
    assert bench.share_limits(1, 2, 0.99) == pytest.approx((1 - 0.99**0.5, 0.99**0.5), rel=1e-12)
    assert bench.share_limits(5, 5, 0.99) == (pytest.approx(0.01 ** (1 / 5), rel=1e-12), 1.0)


def test_the_honesty_table_on_few_replications() -> None:
    """Errors and power of the three columns, on a spike and on another law; the benchmark has all of them."""
    laws, rows = {law.name: law for law in honesty.laws()}, []
    for rounds, names in ((1, ("uniform", "spike 0.01")), (5, ("exponential",))):
        for name in names:
            counts = {f: honesty.count(laws[name], f, rounds, seeds=400, replications=150) for f in honesty.FACTORS}
            rows.append(honesty.Rates(laws[name], rounds, counts))
    assert [text for row in rows for text in honesty.too_many(row, 150)] == []
    # at 99.9 % and 400 seeds a bound 10 % too small is noticed in fewer than half of the trials
    late = "level 0.999: EXCEEDS in at most half of the trials of every law"
    assert honesty.abstaining(rows[:1], 150) in ([], [f"{column}, 1 rounds, {late}" for column in honesty.COLUMNS])
    spike = rows[1].by_factor[0.9]
    assert spike.holds[2, 1] > 0.1 * 150  # HOLDS that names the event which it has missed
    assert spike.unnamed[2].sum() <= 2


def test_the_table_notices_a_dishonest_and_an_idle_test() -> None:
    law = honesty.laws()[0]
    none, all_of = np.zeros((3, 2), dtype=np.int64), np.full((3, 2), 100)
    idle, loud = ({f: honesty.Counts(own, own, own) for f in honesty.FACTORS} for own in (none, all_of))
    assert len(honesty.abstaining([honesty.Rates(law, 1, idle)], 100)) == 12
    assert len(honesty.too_many(honesty.Rates(law, 1, loud), 100)) == 24
    assert honesty.abstaining([honesty.Rates(law, 1, loud)], 100) == []
    # the event that carries the mean: 0.5 + 0.5*10 of probability 0.1
    two = honesty.Law("two", np.array([0.5, 5.5]), np.array([0.9, 0.1]))
    assert (two.carrier(1.0), two.carrier(0.9), two.carrier(0.45)) == (0.1, 0.1, 1.0)
