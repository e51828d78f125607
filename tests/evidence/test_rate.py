"""Slopes on log-log axes: power laws, drift, hand-computed fits, and measured coverage over seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from boundcheck.errors import BadInput
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
    assert within(rate, -2.5, -1.5) is Outcome.HOLDS
    assert within(rate, -np.inf, -1.5) is Outcome.HOLDS
    assert within(rate, -np.inf, -1.6) is Outcome.UNDECIDED
    assert within(rate, -1.5, 0) is Outcome.UNDECIDED
    assert within(rate, -1.4, 0) is Outcome.VIOLATED
    assert within(rate, -4, -2.6) is Outcome.VIOLATED
    for low, high in ((0, -1), (np.nan, 1), (0, np.nan)):
        with pytest.raises(BadInput, match="interval"):
            within(rate, low, high)


def _noisy(generator: np.random.Generator, x: np.ndarray, seeds: int, power: float) -> np.ndarray:
    """Mean x^power exactly; seeds differ by a common lognormal factor and one at every round."""
    z = 0.5 * generator.standard_normal((seeds, 1)) + 0.5 * generator.standard_normal((seeds, x.size))
    return x**power * np.exp(z - 0.25)


def test_confidence_interval_covers_the_slope() -> None:
    """1000 curves of 100 seeds at 95 %: binomial standard deviation 6.9, so 950 - 3.6 and + 2.6 of these."""
    x, generator = np.geomspace(10, 1000, 9), np.random.default_rng(21)
    covered = 0
    for _ in range(1000):
        rate = fit_rate_sampled(x, _noisy(generator, x, 100, -1.5), last=1, level=0.95)
        covered += rate.low <= -1.5 <= rate.high
    assert 925 <= covered <= 968


def test_interval_shrinks_with_seeds_and_grows_with_level() -> None:
    x, generator = np.geomspace(10, 1000, 9), np.random.default_rng(4)
    samples = _noisy(generator, x, 1600, -1.0)
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


GRID, SAMPLES = np.geomspace(1, 100, 5), np.ones((20, 5))


def spoilt(rows: Any, column: int, value: float) -> np.ndarray:
    found = SAMPLES.copy()
    found[rows, column] = value
    return found


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: fit_rate([1.0, 2], [1.0, 2], last=1), "at least 3 points"),
        (lambda: fit_rate([1.0, 2, 4], [1.0, 0, 1], last=1), "curve is 0 at point number 1"),
        (lambda: fit_rate([1.0, 2, 4], [1.0, 1, np.nan], last=1), "curve is nan at point number 2"),
        (lambda: fit_rate([1.0, 2, 4], [np.inf, 1, 1], last=1), "curve is inf"),
        (lambda: fit_rate([0.0, 2, 4], [1.0, 1, 1], last=1), "x axis is 0"),
        (lambda: fit_rate([1.0, 2, 2], [1.0, 1, 1], last=1), "increase strictly"),
        (lambda: fit_rate([1.0, 2, 4], [1.0, 1], last=1), "3 points on the x axis"),
        (lambda: fit_rate([[1.0, 2, 4]], [1.0, 1, 1], last=1), r"shape \(1, 3\)"),
        *((lambda last=last: fit_rate(GRID, GRID, last=last), "last") for last in (0.0, 1.5, np.nan)),
        (lambda: fit_rate(GRID, GRID, last=0.25), r"Only 2 points lie in the last 0\.25"),
        (lambda: fit_rate(GRID, GRID, windows=1), "windows = 1"),
        (lambda: fit_rate_sampled(GRID, SAMPLES[:9]), "9 seeds"),
        (lambda: fit_rate_sampled(GRID, SAMPLES, level=99), "level"),
        (lambda: fit_rate_sampled(GRID, SAMPLES[:, :4]), "do not fit"),
        *(
            (lambda v=v: fit_rate_sampled(GRID, spoilt(3, 4, v)), "seed number 3 and point number 4")
            for v in (np.nan, np.inf, -1.0)
        ),
        (lambda: fit_rate_sampled(GRID, spoilt(slice(1, None), 4, 0)), "leaving out any one seed"),
    ],
)
def test_bad_input(call: Callable[[], object], named: str) -> None:
    with pytest.raises(BadInput, match=named):
        call()
