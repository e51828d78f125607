"""Constants of logistic regression by exact fractions, against gradients at points and against floating bounds."""

from fractions import Fraction

import numpy as np
import pytest
import seen_constants
from flint import fmpq_mat
from logistic_tools import (
    Labelled,
    client_smoothness,
    gradient_dissimilarity,
    largest_eigenvalue,
    local_variance,
    root_up,
    sample_convexity,
    sample_smoothness,
    similarity,
)

from boundcheck.certified.constant import Known
from boundcheck.certified.linear_scores import bounds
from boundcheck.core.linalg import matrix
from boundcheck.errors import BadInput

F = Fraction

RIDGE = F(1, 10)
WEIGHTS = (F(1, 2), F(1, 3), F(1, 6))


def rows(seed: int, m: int, d: int = 3) -> Labelled:
    random = np.random.default_rng(seed)
    table = [[F(int(v), 8) for v in row] for row in random.integers(-20, 20, size=(m, d))]
    return Labelled(matrix(table), tuple(int(v) for v in random.choice((1, -1), size=m)))


CLIENTS = (rows(1, 4), rows(2, 6), rows(3, 2))


def floats(m: fmpq_mat) -> np.ndarray:
    return np.array([[float(int(v.p)) / float(int(v.q)) for v in row] for row in m.tolist()])


def sample_gradients(client: Labelled, x: np.ndarray) -> np.ndarray:
    a, y = floats(client.a), np.array(client.y, dtype=float)
    t = 1 / (1 + np.exp(y * (a @ x)))
    return -(t * y)[:, None] * a + float(RIDGE) * x


POINTS = [scale * v for scale in (0.0, 0.3, 3.0, 50.0) for v in np.random.default_rng(0).standard_normal((12, 3))]


def test_smoothness_is_reached_at_0():
    lengths = [v for client in CLIENTS for v in client.lengths2]
    found = sample_smoothness(CLIENTS, RIDGE)
    assert (found.value, found.known) == (max(lengths) / 4 + RIDGE, Known.EXACT)
    assert sample_convexity(RIDGE).value == RIDGE
    own = client_smoothness(CLIENTS, RIDGE)
    hessians = [floats(c.second_moment) / 4 + 0.1 * np.eye(3) for c in CLIENTS]
    assert float(own.value) == pytest.approx(max(np.linalg.eigvalsh(h)[-1] for h in hessians), rel=1e-11)
    small = [1e-4 * p / (1 + np.abs(p).max()) for p in POINTS]
    for client in CLIENTS:
        steep = seen_constants.steepest(small, [sample_gradients(client, x).mean(axis=0) for x in small])
        assert steep <= own.value * (1 + F(1, 10**6))


def test_dissimilarity_covers_all_points():
    B2, G2 = gradient_dissimilarity(CLIENTS, WEIGHTS)
    assert (B2.value, G2.known, G2.side) == (1, Known.CERTIFIED, "upper")
    gradients = [[sample_gradients(c, x).mean(axis=0) for c in CLIENTS] for x in POINTS]
    seen = seen_constants.dissimilarity(gradients, WEIGHTS)
    assert 0 < seen <= G2.value < 6 * seen
    assert gradient_dissimilarity(CLIENTS[:1], (F(1),))[1].value == 0


def test_equal_clients_are_still_bounded_by_their_reach():
    # two clients with the same rows have the same gradients; the bound must not fall below what others could do
    _, G2 = gradient_dissimilarity((CLIENTS[0],) * 2, (F(1, 2),) * 2)
    assert G2.value >= CLIENTS[0].reach ** 2


def test_local_variance_covers_all_points():
    found, P2, noise2 = local_variance(CLIENTS)
    assert P2.value == 0
    for client, bound in zip(CLIENTS, found, strict=True):
        seen = seen_constants.variance([sample_gradients(client, x) for x in POINTS])
        assert 0 < seen <= bound < 6 * seen
        assert bound <= sum(client.lengths2) / client.count * (1 + F(1, 10**12))
    assert noise2.value >= sum(found) / 12
    assert local_variance((rows(5, 1),))[0] == [0]


def test_similarity_covers_all_pairs_of_points():
    delta = similarity(CLIENTS, WEIGHTS)
    gradients = [[sample_gradients(c, x).mean(axis=0) for c in CLIENTS] for x in POINTS]
    seen = seen_constants.similarity(POINTS, gradients, WEIGHTS)
    assert 0 < seen <= delta.value
    assert delta.value <= client_smoothness(CLIENTS, F(0)).value  # convex clients: at most L
    assert similarity(CLIENTS[:1], (F(1),)).value == 0


def test_one_row_by_hand():
    # a = (3, 4), label -1: gradient t (3, 4), |v| = 5, reach 5/2
    client = Labelled(matrix([[3, 4]]), (-1,))
    assert (client.reach, client.norm) == (F(5, 2), (F(25), True))
    assert sample_smoothness([client], F(1)).value == F(29, 4)
    other = Labelled(matrix([[3, 4]]), (1,))
    # gradients t (3, 4) and -t' (3, 4): at most 5 each about 0
    _, G2 = gradient_dissimilarity((client, other), (F(1, 2),) * 2)
    assert G2.value == 25


def test_roots_and_eigenvalues_are_rounded_up():
    for value in (F(2), F(10**40, 3), F(1, 10**40), F(4), F(0), F(9, 16)):
        root = root_up(value)
        assert value <= root**2 <= value * (1 + F(1, 10**14))
    assert root_up(F(9, 16)) == F(3, 4)
    assert largest_eigenvalue(matrix([[2, 0], [0, 5]])).value == 5
    assert largest_eigenvalue(matrix([[2, 1], [1, 2]])) == (3, True)
    with pytest.raises(BadInput, match="no square root"):
        root_up(F(-1))
    with pytest.raises(BadInput, match=r"label \+1 or -1"):
        Labelled(matrix([[1]]), (0,))
    with pytest.raises(BadInput, match="sum to 1"):
        similarity(CLIENTS, (F(1), F(1), F(1)))


@pytest.mark.parametrize("shape", [(4, 6, 2), (30, 5, 40), (1, 1, 1)])
def test_the_floating_bounds_are_bounds_and_near(shape):
    clients = [rows(20 + i, m, 4) for i, m in enumerate(shape)]
    features = np.concatenate([floats(c.a) for c in clients])
    labels = np.concatenate([c.y for c in clients])
    quarter = Fraction(1, 4)
    found = bounds(
        features,
        [0, *np.cumsum(shape)],
        WEIGHTS,
        -labels[:, None] / 2,
        curvature=quarter,
        steepness2=Fraction(1),
        radius2=quarter,
    )
    exact = {
        "sample": sample_smoothness(clients, F(0)).value,
        "G2": gradient_dissimilarity(clients, WEIGHTS)[1].value,
        "delta": similarity(clients, WEIGHTS).value,
    }
    for name, value in exact.items():  # G2 and delta take a coarser inequality there
        room = 1 + F(1, 10**6) if name == "sample" else F(2)
        assert value * (1 - F(1, 10**12)) <= getattr(found, name) <= value * room
    for client, value in zip(clients, found.clients, strict=True):
        assert client.norm.value / 4 * (1 - F(1, 10**11)) <= value <= client.norm.value / 4 * (1 + F(1, 10**6))
    noise2 = local_variance(clients)[2].value
    assert noise2 / 2 <= found.noise2 <= 2 * noise2
