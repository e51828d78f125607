"""The capitals behind the sequential test, from their definitions and in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.evidence.confidence import Decision, SequentialTest
from boundcheck.evidence.eprocess import Capital, advance, enough, missed, seeds_needed, start

HORIZONS = (10, 40, 160, 640, 2560, 10240, 40960)
WEIGHTS = [Fraction(w, 16) for w in (1, 1, 3, 5, 3, 2, 1)]
RATES = [Fraction(2) ** k for k in range(-8, 13)]
SHARES = [Fraction(2 if -6 <= k <= 4 else 1, 32) for k in range(-8, 13)]


def _capital(values: list[Fraction], bound: Fraction, top: Fraction | None = None) -> float:
    """Capital against E X <= bound, or against E X >= bound by an envelope, from the definition of the bets."""
    capital = [1.0] * len(HORIZONS)
    largest = 1.0
    for n, x in enumerate(values):
        earlier = [v / bound for v in values[:n]]
        mean = sum(earlier, Fraction(0)) / max(n, 1)
        variance = (sum((v - mean) ** 2 for v in earlier) + mean**2 / 4) / (n + 1)
        for k, horizon in enumerate(HORIZONS):
            bet = 0.0 if n == 0 else math.sqrt(14 / (horizon * variance)) if variance else math.inf
            cap = 15 / 16 / (1 if top is None else float(top / bound - 1))
            gain = float(x / bound - 1) * (1 if top is None else -1)
            capital[k] *= 1 + min(cap, bet) * gain
        largest = max(largest, sum(float(w) * c for w, c in zip(WEIGHTS, capital, strict=True)))
    return largest


def test_capital_by_its_definition() -> None:
    values = [Fraction(v, 8) for v in (3, 20, 9, 0, 31, 12, 8, 17)]
    samples = np.array([[float(v)] for v in values])
    for bound in (Fraction(1), Fraction(1, 2)):
        test = SequentialTest(np.array([float(bound)])).update(samples)
        assert test.e_value == pytest.approx(_capital(values, bound), rel=1e-12)
    two = SequentialTest(np.array([1.0, 2.0])).update(np.repeat(samples, 2, axis=1))
    one = [SequentialTest(np.array([b])).update(samples) for b in (1.0, 2.0)]
    last = [_last_capital(values, Fraction(b)) for b in (1, 2)]
    assert two.e_value <= (one[0].e_value + one[1].e_value) / 2
    assert two.e_value >= sum(last) / 2 * (1 - 1e-12)
    assert two.worst_round == 0
    bound, top = Fraction(3), Fraction(4)
    test = SequentialTest(np.array([3.0]), envelope=np.array([4.0])).update(samples)
    assert test.e_within == pytest.approx(_capital(values, bound, top), rel=1e-8)  # envelopes are raised by 1e-9


def _last_capital(values: list[Fraction], bound: Fraction) -> float:
    state = start((1,))
    for v in values:
        state = advance(state, np.array([float(v)]), np.array([float(bound)]), np.array([np.inf]))
    return float(np.array([float(w) for w in WEIGHTS]) @ state.above[:, 0])


def test_the_first_seed_is_not_bet_on() -> None:
    """Nothing is known of the variance before it; a diverged first seed is certain all the same."""
    assert SequentialTest(np.array([1.0])).update([[900.0]]).e_value == 1.0
    assert SequentialTest(np.array([1.0])).update([[np.inf]]).decision is Decision.EXCEEDS


@pytest.mark.parametrize(("bound", "value"), [(1.0, Fraction(1, 4)), (1.0, Fraction(255, 256)), (0.0, Fraction(0))])
def test_constant_below_the_bound_by_exact_arithmetic(bound: float, value: Fraction) -> None:
    """The capital grows at once; what is waited for are seeds: (1 - p)^n <= 0.0005 at p = 1/20 needs 149 of them."""

    def capital(seeds: int) -> Fraction:
        return sum((w * (1 + h * (1 - value)) ** seeds for w, h in zip(SHARES, RATES, strict=True)), Fraction(0))

    few = SequentialTest(np.array([bound])).update(np.full((4, 1), float(value)))
    assert few.e_within == pytest.approx(float(capital(4) / 2), rel=1e-12)
    assert capital(148) > 2000
    assert Fraction(19, 20) ** 148 > Fraction(1, 2000) >= Fraction(19, 20) ** 149
    values = np.full((149, 1), float(value))
    assert SequentialTest(np.array([bound])).update(values[1:]).decision is Decision.UNDECIDED
    assert SequentialTest(np.array([bound])).update(values).decision is Decision.WITHIN


def test_half_of_the_level_is_for_what_is_missed() -> None:
    """2000, not 1000, decides at the level 0.999: the other half of 0.001 is spent on unseen events."""
    gap = 2.0**-20  # growth so slow that the capital is what is waited for

    def capital(seeds: int) -> float:
        return sum(float(w) * (1 + float(h) * gap) ** seeds for w, h in zip(SHARES, RATES, strict=True))

    enough_for_half, needed = (next(n for n in range(9999) if capital(n) >= goal) for goal in (1000, 2000))
    assert 149 < enough_for_half < needed
    test = SequentialTest(np.array([1.0]), level=0.999).update(np.full((needed - 1, 1), 1 - gap))
    assert test.decision is Decision.UNDECIDED
    assert test.update([[1 - gap]]).decision is Decision.WITHIN


def test_seeds_needed_are_the_least_that_see_an_event() -> None:
    for probability in (0.5, 0.05, 1e-2, 1e-3, Fraction(1, 7)):
        for level in (Fraction(19, 20), Fraction(999, 1000)):
            n = seeds_needed(float(probability), float(1 - level))
            exact = Fraction(probability)
            assert (1 - exact) ** n <= (1 - level) / 2 * (1 + Fraction(1, 10**9))
            assert (1 - exact) ** (n - 1) > (1 - level) / 2 * (1 - Fraction(1, 10**9))
            assert enough(n, float(probability), float(1 - level))
            assert not enough(n - 1, float(probability), float(1 - level))
            assert missed(n, float(1 - level)) <= float(probability) < missed(n - 1, float(1 - level))
    assert (seeds_needed(1.0, 0.001), missed(0, 0.1)) == (1, 1.0)
    assert missed(1000, 0.001) == pytest.approx(1 - 0.0005 ** (1 / 1000), rel=1e-12)


def _expected(state: Capital, law: np.ndarray, values: np.ndarray, top: float, part: str) -> np.ndarray:
    """Expected capital (components, ...) after one more seed, over the capital now."""
    bound = np.array([1.0])
    after = [getattr(advance(state, np.array([v]), bound, np.array([top])), part) for v in values]
    return sum(p * a for p, a in zip(law, after, strict=True)) / getattr(state, part)


def test_one_more_seed_never_raises_the_expected_capital() -> None:
    """Exactly, for two-point laws of mean 1 and every component, whatever came before; 1 is attained."""
    generator = np.random.default_rng(1)
    for low in (0.0, 0.3, 0.9):
        for chance in (0.5, 0.1, 0.01):
            values = np.array([low, low + (1 - low) / chance])
            law = np.array([1 - chance, chance])
            assert law @ values == pytest.approx(1)
            state = start((1,))
            for n in range(8):
                for part, top in (("above", np.inf), ("below", values[1])):
                    np.testing.assert_allclose(_expected(state, law, values, top, part), 1, rtol=1e-12)
                # without an envelope only the rates up to 1/(q - b) are fair, the others die at q
                dying = _expected(state, law, values, np.inf, "dying")[:, 0]
                fair = np.array([float(h) <= 1 / (values[1] - 1) for h in RATES])
                np.testing.assert_allclose(dying[fair], 1, rtol=1e-12)
                after = advance(state, values[1:], np.array([1.0]), np.array([np.inf]))
                assert not after.dying[~fair].any()
                x = values[:1] if n % 2 else generator.choice(values, 1, p=law)
                state = advance(state, x, np.array([1.0]), np.array([values[1]]))
                state = replace(state, dying=np.maximum(state.dying, 1e-3))  # so that ratios can be taken


def test_what_is_above_the_carrying_value_costs_the_capital_no_less() -> None:
    """Values above q lose at least what q loses: the step from E X > b to E min(X, q) = b in the proof."""
    q, bound, none = 3.0, np.array([1.0]), np.array([np.inf])
    at_q = advance(start((1,)), np.array([q]), bound, none).dying
    for x in (3.0, 3.5, 10.0, 1e6):
        assert (advance(start((1,)), np.array([x]), bound, none).dying <= at_q).all()
