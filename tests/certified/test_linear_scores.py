"""Bounds of logistic regression from the features alone: above what gradients at points show, and near it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import seen_constants

from boundcheck.certified.linear_scores import Bounds, bounds, largest_gram

F = Fraction

Client = tuple[np.ndarray, np.ndarray]  # features (m, d), labels +1 or -1
WEIGHTS = (F(1, 2), F(1, 3), F(1, 6))
SHAPES = [(4, 6, 2), (30, 5, 40), (2, 1, 1)]


def client(seed: int, m: int) -> Client:
    random = np.random.default_rng(seed)
    return random.integers(-20, 20, size=(m, 3)) / 8, random.choice((1.0, -1.0), size=m)


def clients(shape: Sequence[int]) -> list[Client]:
    return [client(20 + i, m) for i, m in enumerate(shape)]


def found(own: Sequence[Client], weights: Sequence[Fraction] = WEIGHTS) -> Bounds:
    """The residual of a label y is -y/2 at 0, at most 1, and changes by at most 1/2; its slope is at most 1/4."""
    labels = np.concatenate([y for _, y in own])
    return bounds(
        np.concatenate([a for a, _ in own]),
        [0, *np.cumsum([len(a) for a, _ in own]).tolist()],
        weights,
        -labels[:, None] / 2,
        curvature=F(1, 4),
        steepness2=F(1),
        radius2=F(1, 4),
    )


def sample_gradients(own: Client, x: np.ndarray) -> np.ndarray:
    a, y = own
    return -(y / (1 + np.exp(y * (a @ x))))[:, None] * a


POINTS = [scale * v for scale in (0.01, 0.3, 3.0, 50.0) for v in np.random.default_rng(0).standard_normal((12, 3))]


@pytest.mark.parametrize("shape", SHAPES)
def test_no_point_shows_more(shape: tuple[int, ...]) -> None:
    own, bound = clients(shape), found(clients(shape))
    gradients = [[sample_gradients(c, x).mean(axis=0) for c in own] for x in POINTS]
    variances = [seen_constants.variance([sample_gradients(c, x) for x in POINTS]) for c in own]
    pairs = {
        "G2": seen_constants.dissimilarity(gradients, WEIGHTS),
        "delta": seen_constants.similarity(POINTS, gradients, WEIGHTS),
        "noise2": sum(variances) / sum(shape),
    }
    for name, seen in pairs.items():
        assert 0 < seen <= getattr(bound, name) < 10 * seen, name


@pytest.mark.parametrize("shape", SHAPES)
def test_curvatures_are_those_at_0(shape: tuple[int, ...]) -> None:
    own, bound = clients(shape), found(clients(shape))
    assert float(bound.sample) == pytest.approx(max((a**2).sum(axis=1).max() for a, _ in own) / 4, rel=1e-6)
    for (a, _), value in zip(own, bound.clients, strict=True):
        exact = np.linalg.eigvalsh(a.T @ a / len(a))[-1] / 4
        assert exact * (1 - 1e-11) <= value <= exact * (1 + 1e-6)


def test_one_row_by_hand() -> None:
    # a = (3, 4): gradients t (3, 4) and -t' (3, 4), at most 5 each about 0
    row = np.array([[3.0, 4.0]])
    bound = found([(row, np.array([-1.0])), (row, np.array([1.0]))], (F(1, 2),) * 2)
    assert float(bound.sample) == pytest.approx(25 / 4, rel=1e-6)
    assert float(bound.G2) == pytest.approx(25, rel=1e-6)
    assert bound.noise2 == 0  # a client with one sample


def test_equal_clients_are_still_bounded_by_what_others_could_do() -> None:
    # the clients' gradients are the same; nothing in the bound may rest on that
    own = client(1, 4)
    assert (largest_gram(own[0]) / 4) / 4 <= found([own] * 2, (F(1, 2),) * 2).G2
    alone = found([own], (F(1),))
    assert alone.G2 == alone.delta == 0  # the only client is F
