"""Orders of methods, on samples whose answer is known."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.errors import BadInput, UnknownName
from boundcheck.evidence.ordering import half_width, holm, judge, p_values, pairs_of

A = np.array([1.0, 1.1, 0.9, 1.05, 0.95])


def _outcomes(samples: dict[str, np.ndarray], order: list[list[str]], **how: object) -> list[str]:
    given = {"best": "lowest", "confidence": 0.95, **how}
    return [pair.outcome for pair in judge(samples, order, **given)]  # pyright: ignore[reportArgumentType]


def test_a_clear_order_is_reproduced_and_its_opposite_reversed() -> None:
    noise = np.array([0.01, -0.02, 0.015, 0.0, -0.005])
    samples = {"a": A, "b": A + 1 + noise, "c": A + noise[::-1]}
    assert _outcomes(samples, [["a"], ["b"]]) == ["reproduced"]
    assert _outcomes(samples, [["b"], ["a"]]) == ["reversed"]
    assert _outcomes(samples, [["a"], ["c"]]) == ["undecided"]
    assert _outcomes(samples, [["a"], ["b"]], best="highest") == ["reversed"]
    assert _outcomes(samples, [["a", "c"], ["b"]]) == ["reproduced", "reproduced"]
    assert judge(samples, [["a"], ["b"]], best="lowest", confidence=0.95)[0].difference == pytest.approx(1.0)


def test_seeds_are_compared_one_by_one() -> None:
    # between the methods lies far less than between the seeds; only the paired test sees it
    wide = np.array([1.0, 5.0, 9.0, 2.0, 7.0])
    samples = {"a": wide, "b": wide + np.array([0.1, 0.11, 0.09, 0.1, 0.1])}
    assert _outcomes(samples, [["a"], ["b"]]) == ["reproduced"]


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
    with pytest.raises(BadInput, match="16 seeds"):
        p_values(np.ones(17), "sign_flip")


def test_one_seed_and_equal_values_decide_nothing() -> None:
    one = {"a": np.array([1.0]), "b": np.array([9.0])}
    assert _outcomes(one, [["a"], ["b"]]) == ["undecided"]
    assert _outcomes({"a": A, "b": A.copy()}, [["a"], ["b"]]) == ["undecided"]
    assert p_values(np.zeros(4), "sign_flip") == (1.0, 1.0)


def test_where_nothing_is_random_the_difference_decides() -> None:
    same = {"a": np.full(3, 1.0), "b": np.full(3, 1.5)}
    assert _outcomes(same, [["a"], ["b"]], certain=("a", "b")) == ["reproduced"]
    assert _outcomes(same, [["a"], ["b"]], certain=("a", "b"), test="sign_flip") == ["reproduced"]
    assert _outcomes(same, [["b"], ["a"]], certain=("a", "b")) == ["reversed"]
    assert _outcomes({"a": same["a"], "b": same["a"]}, [["a"], ["b"]], certain=("a", "b")) == ["undecided"]


def test_equal_differences_of_random_runs_are_no_certainty() -> None:
    # accuracies on ten samples: three seeds may well differ by the same amount, or not at all, by chance
    coarse = {"a": np.array([0.5, 0.6, 0.5]), "b": np.array([0.6, 0.7, 0.6])}
    assert _outcomes(coarse, [["a"], ["b"]]) == ["undecided"]
    assert _outcomes(coarse, [["a"], ["b"]], certain=("a",)) == ["undecided"]
    assert p_values(np.full(3, 0.1)) == (1 / 8, 1.0)
    assert p_values(np.array([0.1, 0.1, 0.1 + 1e-16])) == (1 / 8, 1.0)  # equal but for rounding
    assert p_values(np.zeros(3)) == (1.0, 1.0)


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_coarse_values_give_no_false_orders(seeds: int) -> None:
    random = np.random.default_rng(11)
    wrong, tries = 0, 300
    for _ in range(tries):
        drawn = {name: random.integers(0, 2, seeds).astype(float) for name in "abcd"}
        found = judge(drawn, [["a"], ["b"], ["c"], ["d"]], best="highest", confidence=0.95)
        wrong += any(pair.outcome != "undecided" for pair in found)
    assert wrong <= tries * 0.05 + 3 * math.sqrt(tries * 0.05 * 0.95)


def test_a_diverged_run_is_the_worse_one_by_the_sign_test() -> None:
    gone = np.full(6, np.nan)
    samples = {"a": np.arange(6.0), "b": gone, "c": np.array([1.0, np.nan, 1, 1, 1, 1])}
    assert p_values(np.full(6, np.inf)) == (1 / 64, 1.0)
    assert _outcomes(samples, [["a"], ["b"]]) == ["reproduced"]
    assert _outcomes(samples, [["b"], ["a"]]) == ["reversed"]
    assert _outcomes({"a": gone, "b": gone}, [["a"], ["b"]]) == ["undecided"]
    assert math.isnan(judge(samples, [["a"], ["c"]], best="lowest", confidence=0.9)[0].difference)


def test_holm_goes_on_only_as_long_as_hypotheses_fall() -> None:
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


def test_false_orders_are_reproduced_no_more_often_than_stated() -> None:
    random = np.random.default_rng(7)
    wrong = 0
    for _ in range(400):
        drawn = {name: random.normal(size=5) for name in "abcd"}
        found = judge(drawn, [["a"], ["b"], ["c"], ["d"]], best="lowest", confidence=0.9)
        wrong += any(pair.outcome != "undecided" for pair in found)
    assert wrong <= 400 * 0.1 + 3 * math.sqrt(400 * 0.1 * 0.9)
    assert wrong > 0  # the test has power left to err


def test_what_is_not_allowed() -> None:
    with pytest.raises(UnknownName):
        judge({"a": A, "b": A}, [["a"], ["b"]], best="least", confidence=0.9)
    with pytest.raises(UnknownName):
        p_values(A, "wilcoxon")
    with pytest.raises(BadInput, match="confidence"):
        judge({"a": A, "b": A}, [["a"], ["b"]], best="lowest", confidence=1.0)
    with pytest.raises(BadInput, match="seed by seed"):
        judge({"a": A, "b": A[:2]}, [["a"], ["b"]], best="lowest", confidence=0.9)
    assert pairs_of([["a", "b"], ["c"], ["d"]]) == [("a", "c"), ("b", "c"), ("a", "d"), ("b", "d"), ("c", "d")]
