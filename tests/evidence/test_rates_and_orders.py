"""Slopes on log-log axes, and orders of methods: power laws, fits by hand, samples whose answer is known, coverage."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.evidence.ordering import half_width, holm, judge, p_values, pairs_of
from boundcheck.evidence.rate import Rate, fit_rate, fit_rate_sampled, within
from boundcheck.verdict import Outcome


@pytest.mark.parametrize("power", [-2.0, -0.5, 0.0, 1.5])
@pytest.mark.parametrize("x", [np.arange(1.0, 3000.0), np.geomspace(1, 1e6, 13), np.array([1.0, 50, 60, 1000, 1001])])
def test_power_law(power: float, x: np.ndarray) -> None:
    rate = fit_rate(x, 7 * x**power)
    assert rate.kind == "drift"
    assert rate.level is None
    np.testing.assert_allclose([rate.slope, rate.low, rate.high], power, atol=1e-11)


def test_three_uneven_points_by_hand() -> None:
    """log x = 0, 1, 3 and log y = 0, 1, 9: shares 1/2, 3/2, 1, centre 3/2, slope 12.75/3.75; chords 1 and 4."""
    rate = fit_rate(np.exp([0.0, 1, 3]), np.exp([0.0, 1, 9]), last=1)
    assert rate.slope == pytest.approx(3.4)
    assert rate.low == pytest.approx(1)
    assert rate.high == pytest.approx(4)
    assert (rate.points, rate.span[0]) == (3, 1.0)


def test_slope_is_of_the_curve_and_not_of_the_grid() -> None:
    def curve(x: np.ndarray) -> np.ndarray:
        return x**-1.0 + x**-2.0

    log_grid, linear_grid = np.geomspace(1, 1e4, 4001), np.arange(1.0, 10001.0)
    first, second = (fit_rate(x, curve(x), last=0.75).slope for x in (log_grid, linear_grid))
    assert first == pytest.approx(second, abs=2e-3)


def test_drift_shows_a_lower_order_term() -> None:
    """x^-2*(1 + 10/x) has local slope -2 - 10/(x + 10): from -2.0909 at 100 to -2.000999 at 10^4."""
    x = np.geomspace(1, 1e4, 401)
    rate = fit_rate(x, x**-2 * (1 + 10 / x))
    assert rate.span == (pytest.approx(100), 1e4)
    assert -2 - 10 / 110 < rate.low < -2.05
    assert -2.005 < rate.high < -2 - 10 / 10010
    assert rate.low < rate.slope < rate.high
    assert within(rate, -2.1, -1.9) is Outcome.HOLDS
    assert within(rate, -2.02, -1.9) is Outcome.UNDECIDED
    assert within(rate, -1.9, 0) is Outcome.VIOLATED


def test_only_the_last_part_counts() -> None:
    x = np.geomspace(1, 1e4, 41)
    bent = np.where(x < 100, 1.0, (x / 100) ** -3)
    assert fit_rate(x, bent, last=0.5).slope == pytest.approx(-3)
    assert fit_rate(x, bent, last=0.5).points == 21
    assert fit_rate(x, bent, last=1).high == pytest.approx(0)


def test_within_edges() -> None:
    rate = Rate(-2.0, -2.5, -1.5, "confidence", 5, (1.0, 10.0), 0.99)
    for low, high, outcome in (
        (-2.5, -1.5, Outcome.HOLDS), (-np.inf, -1.5, Outcome.HOLDS), (-np.inf, -1.6, Outcome.UNDECIDED),
        (-1.5, 0, Outcome.UNDECIDED), (-4, -2.5, Outcome.UNDECIDED), (-1.4, 0, Outcome.VIOLATED),
        (-4, -2.6, Outcome.VIOLATED),
    ):  # fmt: skip
        assert within(rate, low, high) is outcome


def noisy(generator: np.random.Generator, x: np.ndarray, seeds: int, power: float) -> np.ndarray:
    """Mean x^power exactly; seeds differ by a common lognormal factor and one at every round."""
    z = 0.5 * generator.standard_normal((seeds, 1)) + 0.5 * generator.standard_normal((seeds, x.size))
    return x**power * np.exp(z - 0.25)


def test_confidence_interval_covers_the_slope() -> None:
    """400 curves of 100 seeds at 95 %: binomial standard deviation 4.4, so 380 - 3.6 and + 2.7 of these."""
    x, generator = np.geomspace(10, 1000, 9), np.random.default_rng(21)
    covered = 0
    for _ in range(400):
        rate = fit_rate_sampled(x, noisy(generator, x, 100, -1.5), last=1, level=0.95)
        covered += rate.low <= -1.5 <= rate.high
    assert 364 <= covered <= 392


def test_interval_shrinks_with_seeds_and_grows_with_level() -> None:
    x, generator = np.geomspace(10, 1000, 9), np.random.default_rng(4)
    samples = noisy(generator, x, 1600, -1.0)
    few, many = fit_rate_sampled(x, samples[:100]), fit_rate_sampled(x, samples)
    ratio = (few.high - few.low) / (many.high - many.low)
    assert 3 < ratio < 5.4  # square root of 16
    wide = fit_rate_sampled(x, samples, level=0.999)
    assert wide.low < many.low < many.slope < many.high < wide.high
    assert (many.kind, many.level, many.points) == ("confidence", 0.99, 5)
    assert many.slope == pytest.approx(fit_rate(x, samples.mean(axis=0)).slope, abs=1e-12)


def test_common_factor_leaves_no_uncertainty() -> None:
    """Seeds that differ by one factor at all rounds have all the same slope."""
    x = np.array([1.0, 2, 4, 8])
    factor = np.random.default_rng(0).random((20, 1)) + 0.5
    rate = fit_rate_sampled(x, factor * x**-2, last=1)
    np.testing.assert_allclose([rate.low, rate.slope, rate.high], -2, atol=1e-12)


def test_jackknife_by_hand() -> None:
    """Two kinds of seeds and three rounds at log x = -1, 0, 1: the slope is half of log(mean_3/mean_1).

    mean_1 = 1 always; at the third round five seeds give 1 and five give 3, so mean_3 = 2, and without one seed
    19/9 or 17/9. Student's 97.5 % quantile with 9 degrees of freedom is 2.262157.
    """
    samples = np.ones((10, 3))
    samples[5:, 2] = 3
    rate = fit_rate_sampled(np.exp([-1.0, 0, 1]), samples, last=1, level=0.95)
    difference = 0.5 * np.log(19 / 17)  # between the two left-out slopes
    error = np.sqrt(9 / 10 * 10 * (difference / 2) ** 2)
    assert rate.slope == pytest.approx(0.5 * np.log(2))
    assert rate.high - rate.slope == pytest.approx(2.262157 * error, rel=1e-6)


# --- orders of methods ----------------------------------------------------------------------------------------------

A = np.array([1.0, 1.1, 0.9, 1.05, 0.95])


def outcomes(samples: dict[str, np.ndarray], order: list[list[str]], **how: object) -> list[str]:
    given = {"best": "lowest", "confidence": 0.95, **how}
    return [pair.outcome for pair in judge(samples, order, **given)]  # pyright: ignore[reportArgumentType]


def test_a_clear_order_is_reproduced_and_its_opposite_reversed() -> None:
    noise = np.array([0.01, -0.02, 0.015, 0.0, -0.005])
    samples = {"a": A, "b": A + 1 + noise, "c": A + noise[::-1]}
    assert outcomes(samples, [["a"], ["b"]]) == ["reproduced"]
    assert outcomes(samples, [["b"], ["a"]]) == ["reversed"]
    assert outcomes(samples, [["a"], ["c"]]) == ["undecided"]
    assert outcomes(samples, [["a"], ["b"]], best="highest") == ["reversed"]
    assert outcomes(samples, [["a", "c"], ["b"]]) == ["reproduced", "reproduced"]
    assert judge(samples, [["a"], ["b"]], best="lowest", confidence=0.95)[0].difference == pytest.approx(1.0)


def test_seeds_are_compared_one_by_one() -> None:
    # between the methods lies far less than between the seeds; only the paired test sees it
    wide = np.array([1.0, 5.0, 9.0, 2.0, 7.0])
    samples = {"a": wide, "b": wide + np.array([0.1, 0.11, 0.09, 0.1, 0.1])}
    assert outcomes(samples, [["a"], ["b"]]) == ["reproduced"]


def test_the_t_test_has_the_tabulated_quantiles() -> None:
    # t = 2.776445 is the two-sided 5 % point for 4 degrees of freedom
    gain = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    spread = math.sqrt(2.5 / 5)
    above, below = p_values(gain + 2.776445105 * spread)
    assert above == pytest.approx(0.025, abs=1e-9)
    assert below == pytest.approx(0.975, abs=1e-9)
    assert half_width(gain, 0.95) == pytest.approx(2.776445105 * spread)
    assert math.isnan(half_width(gain[:1], 0.95))


def test_the_sign_flip_test_counts_all_patterns() -> None:
    gain = [3, 1, -2, 4]
    sums = [sum(s * g for s, g in zip(signs, gain, strict=True)) for signs in itertools.product((1, -1), repeat=4)]
    share = Fraction(sum(total >= sum(gain) for total in sums), 16)
    assert p_values(np.array(gain, dtype=float), "sign_flip")[0] == float(share)


def test_one_seed_and_equal_values_decide_nothing() -> None:
    one = {"a": np.array([1.0]), "b": np.array([9.0])}
    assert outcomes(one, [["a"], ["b"]]) == ["undecided"]
    assert outcomes({"a": A, "b": A.copy()}, [["a"], ["b"]]) == ["undecided"]
    assert p_values(np.zeros(4), "sign_flip") == (1.0, 1.0)


def test_where_nothing_is_random_the_difference_decides() -> None:
    same = {"a": np.full(3, 1.0), "b": np.full(3, 1.5)}
    assert outcomes(same, [["a"], ["b"]], certain=("a", "b")) == ["reproduced"]
    assert outcomes(same, [["a"], ["b"]], certain=("a", "b"), test="sign_flip") == ["reproduced"]
    assert outcomes(same, [["b"], ["a"]], certain=("a", "b")) == ["reversed"]
    assert outcomes({"a": same["a"], "b": same["a"]}, [["a"], ["b"]], certain=("a", "b")) == ["undecided"]


def test_equal_differences_of_random_runs_are_no_certainty() -> None:
    # accuracies on ten samples: three seeds may well differ by the same amount, or not at all, by chance
    coarse = {"a": np.array([0.5, 0.6, 0.5]), "b": np.array([0.6, 0.7, 0.6])}
    assert outcomes(coarse, [["a"], ["b"]]) == ["undecided"]
    assert outcomes(coarse, [["a"], ["b"]], certain=("a",)) == ["undecided"]
    assert p_values(np.full(3, 0.1)) == (1 / 8, 1.0)
    assert p_values(np.array([0.1, 0.1, 0.1 + 1e-16])) == (1 / 8, 1.0)  # equal but for rounding
    assert p_values(np.zeros(3)) == (1.0, 1.0)


@pytest.mark.parametrize(("seeds", "confidence", "coarse"), [(2, 0.95, True), (5, 0.95, True), (5, 0.9, False)])
def test_false_orders_are_found_no_more_often_than_stated(seeds: int, confidence: float, coarse: bool) -> None:
    random = np.random.default_rng(7)
    wrong, tries, share = 0, 300, 1 - confidence
    for _ in range(tries):
        draw = (lambda: random.integers(0, 2, seeds).astype(float)) if coarse else (lambda: random.normal(size=seeds))
        found = judge({n: draw() for n in "abcd"}, [["a"], ["b"], ["c"], ["d"]], best="lowest", confidence=confidence)
        wrong += any(pair.outcome != "undecided" for pair in found)
    assert wrong <= tries * share + 3 * math.sqrt(tries * share * confidence)
    assert coarse or wrong > 0  # the test has power left to err


def test_a_diverged_run_is_the_worse_one_by_the_sign_test() -> None:
    gone = np.full(6, np.nan)
    samples = {"a": np.arange(6.0), "b": gone, "c": np.array([1.0, np.nan, 1, 1, 1, 1])}
    assert p_values(np.full(6, np.inf)) == (1 / 64, 1.0)
    assert outcomes(samples, [["a"], ["b"]]) == ["reproduced"]
    assert outcomes(samples, [["b"], ["a"]]) == ["reversed"]
    assert outcomes({"a": gone, "b": gone}, [["a"], ["b"]]) == ["undecided"]
    assert math.isnan(judge(samples, [["a"], ["c"]], best="lowest", confidence=0.9)[0].difference)


def test_holm_goes_on_only_as_long_as_hypotheses_fall() -> None:
    assert pairs_of([["a", "b"], ["c"], ["d"]]) == [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"), ("c", "d")]
    assert holm([0.04, 0.01, 0.03, 0.005], 0.05) == [False, True, False, True]
    assert holm([0.01, 0.02, 0.03, 0.04], 0.04) == [True, False, False, False]
    assert holm([0.013, 0.013], 0.025) == [False, False]
    assert holm([0.01, 0.02], 0.02) == [True, True]  # the second has the whole level


def test_more_pairs_make_each_harder() -> None:
    gain = np.array([0.0, 0.1, 0.2, 0.1, 0.35])
    samples = {"a": A, "b": A + gain, **{f"c{k}": A + np.array([-1, 1, -1, 1, 0.2]) * k for k in range(1, 5)}}
    alone = judge({"a": A, "b": A + gain}, [["a"], ["b"]], best="lowest", confidence=0.9)
    many = judge(samples, [["a"], ["b"], ["c1", "c2", "c3", "c4"]], best="lowest", confidence=0.9)
    assert alone[0].outcome == "reproduced"
    assert many[0].p == alone[0].p
    assert many[0].outcome == "undecided"
