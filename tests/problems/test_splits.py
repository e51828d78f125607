"""Splits: every sample dealt once, functions of the seed, and what each promises of the clients."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core import streams
from boundcheck.errors import BadInput
from boundcheck.problems._split import (
    SPLIT,
    Split,
    dirichlet_shares,
    permutation,
    split_dirichlet,
    split_shards,
    unequal_sizes,
)

LABELS = [j * j % 7 % 5 for j in range(400)]  # classes of different sizes
VALUES = [(37 * j) % 101 for j in range(400)]


def parts(kind: str, clients: int = 20, **more) -> list[list[int]]:
    more = {"feature": "label", **more} if kind == "sorted" else more
    return Split.of(kind, clients, 400, labelled=True, **more).parts(400, LABELS, VALUES)


ALL = [
    ("random", {}),
    ("random", {"imbalance": "3/2"}),
    ("sorted", {}),
    ("sorted", {"imbalance": 1}),
    ("dirichlet", {}),
    ("dirichlet", {"alpha": "1/1000"}),
    ("dirichlet", {"alpha": 1000}),
    ("shards", {}),
    ("shards", {"shards_per_client": 7}),
]


@pytest.mark.parametrize(("kind", "more"), ALL)
@pytest.mark.parametrize("clients", [1, 3, 40])
def test_every_row_is_dealt_once_and_no_client_is_empty(kind, more, clients):
    found = parts(kind, clients, **more)
    assert len(found) == clients
    assert sorted(j for part in found for j in part) == list(range(400))
    assert min(map(len, found)) >= 1


@pytest.mark.parametrize(("kind", "more"), ALL)
def test_a_split_is_a_function_of_the_seed(kind, more):
    if kind == "sorted":
        assert parts(kind, **more) == parts(kind, **more, seed=3)
        return
    assert parts(kind, **more, seed=3) == parts(kind, **more, seed=3)
    assert parts(kind, **more, seed=3) != parts(kind, **more, seed=4)


@pytest.mark.parametrize("count", [1, 2, 5, 300])
def test_the_fast_permutation_is_the_defined_one(count):
    assert permutation(count, 9) == streams.shuffle([9], SPLIT, 0, 0, count, count)[0].tolist()


def test_as_many_clients_as_rows_leave_each_one():
    labels = [0, 0, 0, 1, 1]
    assert sorted(split_dirichlet(labels, 5, Fraction(1, 1000), 0)) == [[0], [1], [2], [3], [4]]
    assert sorted(split_shards(labels, 5, 1, 0)) == [[0], [1], [2], [3], [4]]


def test_shards_hold_few_classes_and_are_equally_large():
    labels = [j % 10 for j in range(1000)]
    found = split_shards(labels, 50, 2, 1)
    assert {len(part) for part in found} == {20}
    # a shard of 10 rows of 100 equal labels each holds one class
    assert max(len({labels[j] for j in part}) for part in found) == 2


def test_small_alpha_concentrates_classes_and_large_alpha_spreads_them():
    labels = [j % 10 for j in range(5000)]

    def mean_top_share(alpha: str) -> float:
        found = split_dirichlet(labels, 10, Fraction(alpha), 5)
        return float(np.mean([max(Counter(labels[j] for j in part).values()) / len(part) for part in found]))

    sharp, flat = mean_top_share("1/20"), mean_top_share("1000")
    assert sharp > 0.5
    assert flat < 0.13


@pytest.mark.parametrize(("alpha", "clients"), [("1/2", 3), ("5", 4), ("1/10", 2)])
def test_shares_have_the_moments_of_the_dirichlet_distribution(alpha, clients):
    # mean 1/n, variance (1/n)(1 - 1/n)/(n alpha + 1), covariance -1/(n^2 (n alpha + 1))
    shares = dirichlet_shares(4000, clients, Fraction(alpha), 11)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    variance = (1 / clients) * (1 - 1 / clients) / (clients * float(Fraction(alpha)) + 1)
    np.testing.assert_allclose(shares.mean(axis=0), 1 / clients, atol=5 * np.sqrt(variance / 4000))
    np.testing.assert_allclose(shares.var(axis=0), variance, rtol=0.1)
    covariance = np.cov(shares[:, 0], shares[:, 1])[0, 1]
    assert covariance == pytest.approx(-variance / (clients - 1), rel=0.15)


def test_unequal_sizes_by_hand():
    # 1 + 1 + 1, then 97 spare by 1 : 1/2 : 1/3 = 6/11, 3/11, 2/11: 52.9, 26.45, 17.6 -> 52, 26, 17 and 2 by remainder
    assert unequal_sizes(100, 3, Fraction(1)) == [54, 27, 19]
    assert unequal_sizes(10, 3, Fraction(0)) == [4, 3, 3]
    assert unequal_sizes(5, 5, Fraction(7)) == [1] * 5
    sizes = unequal_sizes(60000, 100, Fraction(3, 2))
    assert sum(sizes) == 60000
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 1


@pytest.mark.parametrize(
    ("kind", "more", "said"),
    [
        ("dirichlet", {"alpha": 0}, "alpha = 0 is not allowed; it must be from"),
        ("dirichlet", {"alpha": 2000}, "alpha = 2000 is not allowed"),
        ("random", {"alpha": 1}, "alpha = '1' is only used with split = 'dirichlet'"),
        ("shards", {"imbalance": 1}, "imbalance = '1' is only used with split = 'random' or 'sorted'"),
        (
            "shards",
            {"shards_per_client": 21},
            "shards_per_client = 21 is not allowed; it must be an integer from 1 to 20",
        ),
        ("random", {"imbalance": -1}, "imbalance = -1 is not allowed"),
        ("random", {"seed": -1}, "seed = -1 is not allowed"),
        ("random", {"clients": 401}, "clients = 401 is not allowed; it must be an integer from 1 to 400"),
        ("dirichlett", {}, "the split 'dirichlett' is unknown; did you mean 'dirichlet'"),
        ("dirichlet", {"labelled": False}, "deals rows by their labels, which this data set has not"),
    ],
)
def test_bad_splits_are_refused_in_a_sentence(kind, more, said):
    given = {"clients": 20, "labelled": True, **more}
    with pytest.raises(BadInput, match=said):
        Split.of(kind, given.pop("clients"), 400, **given)
