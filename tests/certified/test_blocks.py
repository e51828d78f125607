"""Smoothness, noise and dissimilarity of blocks against numbers by hand and against random points in fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq_mat

from boundcheck.certified.blocks import (
    READINGS,
    BlockDissimilarity,
    block_variances,
    coupled,
    decides,
    lipschitz,
)
from boundcheck.certified.samples import Matrices, Rows
from boundcheck.core.linalg import column, fraction, matrix
from boundcheck.errors import BadInput, UnknownName

F = Fraction


def symmetric(rng: random.Random, d: int) -> list[list[Fraction]]:
    a = [[F(rng.randint(-6, 6), rng.choice((1, 2, 3))) for _ in range(d)] for _ in range(d)]
    return [[a[i][j] + a[j][i] for j in range(d)] for i in range(d)]


def test_all_ones() -> None:
    ones, single = matrix([[1] * 4] * 4), [(j,) for j in range(4)]
    found = {r: lipschitz(r, [ones], single) for r in READINGS}
    assert found["separable"] is None
    values = {r: None if f is None else f.values for r, f in found.items()}
    assert values == {"blocks": (1,) * 4, "separable": None, "weighted": (4,) * 4, "global": (4,) * 4}
    assert {r for r, f in found.items() if f is not None and f.exact} == {"blocks", "weighted", "global"}
    pairs = [(0, 1), (2, 3)]
    own = lipschitz("blocks", [ones], pairs)
    assert own is not None
    assert own.values == (2, 2)
    assert own.exact


def test_a_block_diagonal_hessian_meets_all_readings_with_its_own_norms() -> None:
    a = matrix([[0, 3, 0], [3, 0, 0], [0, 0, -2]])
    partition = [(0, 1), (2,)]
    for reading in ("blocks", "separable", "weighted"):
        found = lipschitz(reading, [a], partition)
        assert found is not None
        assert found.values == (3, 2)
        assert decides(reading, [a], partition, [3, 2])
        assert not decides(reading, [a], partition, [3, F(19, 10)])
    assert not decides("separable", [matrix([[1, F(1, 100)], [F(1, 100), 1]])], [(0,), (1,)], [100, 100])
    assert coupled([a], partition) is None
    assert coupled([a], [(0,), (1, 2)]) == (0, 0, 1)


def test_the_weighted_reading_by_hand() -> None:
    # A = [[1, 1], [1, 1]]: A^2 = 2A, and diag(a, b) covers it exactly where (a - 2)(b - 2) >= 4, a, b > 2
    a, single = matrix([[1, 1], [1, 1]]), [(0,), (1,)]
    assert decides("weighted", [a], single, [2, 2])
    assert decides("weighted", [a], single, [3, 2])
    assert not decides("weighted", [a], single, [2, F(199, 100)])
    assert decides("weighted", [a], single, [F(17, 10), F(27, 10)])  # (0.89)(5.29) > 4
    assert not decides("weighted", [a], single, [F(17, 10), F(25, 10)])  # (0.89)(4.25) < 4
    assert not decides("weighted", [a], single, [F(16, 10), F(27, 10)])  # (0.56)(5.29) < 4


@pytest.mark.parametrize("seed", range(8))
def test_random_points_break_no_reading_with_its_constants(seed: int) -> None:
    rng = random.Random(seed)
    d = 5
    hessians = [matrix(symmetric(rng, d)) for _ in range(2)]
    partition = [(0, 3), (1,), (2, 4)]
    for reading in READINGS:
        found = lipschitz(reading, hessians, partition)
        if found is None:
            continue
        assert decides(reading, hessians, partition, found.values)
        for a in hessians:
            for _ in range(40):
                x = [F(rng.randint(-9, 9)) for _ in range(d)]
                block = rng.choice(partition)
                if reading == "blocks":
                    x = [v if k in block else F(0) for k, v in enumerate(x)]
                g = [fraction(v) for v in (a * column(x)).entries()]
                of = {j: sum((g[k] ** 2 for k in b), F(0)) for j, b in enumerate(partition)}
                room = {j: found.values[j] ** 2 * sum((x[k] ** 2 for k in b), F(0)) for j, b in enumerate(partition)}
                if reading == "blocks":
                    j = partition.index(block)
                    assert of[j] <= room[j]
                else:
                    assert sum(of.values()) <= sum(room.values())


@pytest.mark.parametrize("seed", range(6))
def test_the_weighted_constants_are_no_worse_than_the_global_one(seed: int) -> None:
    rng = random.Random(100 + seed)
    rows = symmetric(rng, 4)
    rows = [[v * (12 if i == 0 else 1) * (12 if j == 0 else 1) for j, v in enumerate(r)] for i, r in enumerate(rows)]
    single = [(j,) for j in range(4)]
    own, whole = (lipschitz(r, [matrix(rows)], single) for r in ("weighted", "global"))
    assert own is not None
    assert whole is not None
    assert sum(v * v for v in own.values) <= sum(v * v for v in whole.values)
    shrunk = [v * (1 - F(1, 10**9)) for v in own.values]
    assert not decides("weighted", [matrix(rows)], single, shrunk)  # they lie on the boundary


def test_bad_input_an_empty_block_and_a_flat_objective() -> None:
    with pytest.raises(UnknownName):
        lipschitz("local", [matrix([[1]])], [(0,)])
    with pytest.raises(BadInput, match="one a block"):
        decides("blocks", [matrix([[1]])], [(0,)], [1, 2])
    assert not decides("global", [matrix([[0]])], [(0,)], [-1])
    flat = fmpq_mat(2, 2)
    for reading in READINGS:
        found = lipschitz(reading, [flat], [(0, 1), ()])
        assert found is not None
        assert found.values == (0, 0)


# --- noise --------------------------------------------------------------------------------------------------------


def test_the_variance_of_blocks_by_hand() -> None:
    a = matrix([[2, 1], [1, 2]])
    parts = [(a, column([1, 4])), (a, column([-1, 0]))]
    assert block_variances(Matrices(parts), (a, column([0, 2])), [(0,), (1,)]) == [1, 4]
    assert block_variances(Matrices(parts), (a, column([0, 2])), [(0, 1)]) == [5]
    # the second rows of the samples' Hessians differ
    bent = [(matrix([[2, 0], [0, 1]]), column([1, 0])), (matrix([[2, 0], [0, 3]]), column([-1, 0]))]
    assert block_variances(Matrices(bent), (matrix([[2, 0], [0, 2]]), column([0, 0])), [(0,), (1,)]) == [1, None]
    with pytest.raises(BadInput, match="not the mean"):
        block_variances(Matrices(parts), (a, column([0, 4])), [(0, 1)])


def test_the_variance_of_a_regression() -> None:
    # one number: both samples have a^2 = 4, targets 1 and 3, gradients 2 (2x - y)
    rows = Rows(matrix([[2], [2]]), matrix([[1], [3]]), F(1))
    assert block_variances(rows, rows.mean(), [(0,)]) == [4]
    rows = Rows(matrix([[1, 0], [0, 1]]), matrix([[0], [0]]), F(1))
    assert block_variances(rows, rows.mean(), [(0,), (1,)]) == [None, None]


# --- dissimilarity ------------------------------------------------------------------------------------------------


def sides(maps: Any, weights: Any, block: Any, x: list[Fraction]) -> tuple[Fraction, Fraction]:
    """sum of p_i |g_ij|^2 and |sum of p_i g_ij|^2 at a point."""
    gradients = [[fraction(v) for v in (a * column(x) - b).entries()] for a, b in maps]
    left = sum((w * sum(g[k] ** 2 for k in block) for w, g in zip(weights, gradients, strict=True)), F(0))
    right = sum((sum(w * g[k] for w, g in zip(weights, gradients, strict=True)) ** 2 for k in block), F(0))
    return left, right


def test_equal_hessians_need_beta_1() -> None:
    a = matrix([[1, 0], [0, 2]])
    maps, weights = [(a, column([0, 0])), (a, column([4, 2]))], [F(3, 4), F(1, 4)]
    found = BlockDissimilarity(maps, weights, [(0,), (1,)])
    assert found.beta2 == 1
    assert found.kappa2(F(1)) == [3, F(3, 4)]  # p (1 - p) |b_1 - b_2|^2


def test_proportional_hessians() -> None:
    maps = [
        (matrix([[1, F(1, 2)], [F(1, 2), 1]]), column([0, 0])),
        (matrix([[3, F(3, 2)], [F(3, 2), 3]]), column([2, 1])),
    ]
    weights, partition = [F(1, 2), F(1, 2)], [(0,), (1,)]
    found = BlockDissimilarity(maps, weights, partition)
    # the least factor is (1 + 9)/2 over 2^2
    assert found.beta2 is not None
    assert abs(found.beta2 - F(5, 2)) < F(1, 10**9)
    kappa2 = found.kappa2(found.beta2)
    rng = random.Random(3)
    closest = [F(10**9)] * 2
    for _ in range(300):
        x = [F(rng.randint(-40, 40), 8) for _ in range(2)]
        for j, block in enumerate(partition):
            left, right = sides(maps, weights, block, x)
            own = kappa2[j]
            assert own is not None
            assert left <= found.beta2 * right + own
            closest[j] = min(closest[j], found.beta2 * right + own - left)
    assert max(closest) < F(1, 5)  # near the least constants


def test_coupled_blocks_of_unlike_clients_have_no_dissimilarity() -> None:
    maps = [(matrix([[1, 0], [0, 1]]), column([0, 0])), (matrix([[1, F(1, 2)], [F(1, 2), 1]]), column([0, 0]))]
    found = BlockDissimilarity(maps, [F(1, 2), F(1, 2)], [(0,), (1,)])
    assert found.free_block == 0
    assert found.beta2 is None
