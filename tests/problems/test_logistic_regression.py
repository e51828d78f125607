"""Logistic and softmax regression: gradients, the certified minimum, and constants that hold."""

import itertools
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.certified.linear_scores import bounds, largest_gram
from boundcheck.core.linalg import matrix
from boundcheck.errors import UnknownName
from boundcheck.problems import _kept
from boundcheck.problems._losses import Logistic, Softmax
from boundcheck.problems._minimum import Objective, _large, certify_minimum, minimise
from boundcheck.problems.build import build
from boundcheck.problems.problem import clients_of

sys.path.append(str(Path(__file__).parents[1] / "certified"))
import logistic_tools as exactly

CANCER = {"kind": "logistic_regression", "data": "breast_cancer", "clients": 7, "split": "sorted", "imbalance": "1/2"}
DIGIT = {"kind": "logistic_regression", "data": "digits", "positive": 8, "clients": 12, "split": "dirichlet"}
SOFTMAX = {"kind": "softmax_regression", "data": "digits", "clients": 9, "split": "shards", "ridge": "1/50"}
CODE = "boundcheck.problems._minimum"
SPECS = [CANCER, DIGIT, SOFTMAX]
UNIT = {**CANCER, "features": "unit", "ridge": "1/10"}
UNIT_SOFTMAX = {**SOFTMAX, "features": "unit", "ridge": "1/10"}
EQUAL = {**CANCER, "weights": "equal"}


def points(problem, count: int, seed: int = 0):
    """Random points at several distances of 0 and of the minimum."""
    random = np.random.default_rng(seed)
    for k in range(count):
        size = 10.0 ** random.uniform(-2, 1)
        yield (k % 2) * problem.minimum.point + size * random.standard_normal(problem.dim)


def sample_loss(problem, j: int, x) -> float:
    """The loss of sample j, straight from its definition."""
    a, y = problem.features[j], problem.labels[j]
    added = float(problem.ridge) / 2 * float(x @ x)
    if problem.loss.columns == 1:
        return math.log1p(math.exp(-y * (a @ x))) + added
    scores = x.reshape(-1, len(a)) @ a
    return math.log(math.fsum(math.exp(s) for s in scores)) - scores[y] + added


def sample_gradients(problem, client: int, x):
    """All (|D_i|, d) sample gradients of a client, from its layout for the engines."""
    layout = problem.arrays()
    part = slice(layout.offsets[client], layout.offsets[client + 1])
    a, y = layout.b[part], layout.target[part]
    if layout.kind == "logistic":
        return (-y / (1 + np.exp(y * (a @ x))))[:, None] * a + layout.ridge * x
    scores = np.exp(a @ x.reshape(layout.classes, -1).T)
    p = scores / scores.sum(axis=1, keepdims=True)
    p[np.arange(len(a)), y.astype(int)] -= 1
    return (p[:, :, None] * a[:, None, :]).reshape(len(a), -1) + layout.ridge * x


@pytest.mark.parametrize("spec", SPECS)
def test_gradients_agree_with_finite_differences_of_the_definition(spec):
    p = build(spec)
    random = np.random.default_rng(1)
    x = 0.1 * random.standard_normal(p.dim)
    for client in (0, p.clients - 1):
        rows = range(p.offsets[client], p.offsets[client + 1])
        for _ in range(3):
            u = random.standard_normal(p.dim)
            ends = [math.fsum(sample_loss(p, j, x + s * 1e-5 * u) for j in rows) / len(rows) for s in (1, -1)]
            assert p.gradient(client, x) @ u == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("spec", SPECS)
def test_the_layout_gives_the_same_gradients(spec):
    p = build(spec)
    layout = p.arrays()
    assert layout.kind == ("softmax" if p.loss.columns > 1 else "logistic")
    assert layout.reduction == "mean"
    assert layout.classes == (10 if p.loss.columns > 1 else 0)
    for x in points(p, 4):
        for client in range(p.clients):
            np.testing.assert_allclose(
                sample_gradients(p, client, x).mean(axis=0), p.gradient(client, x), rtol=1e-9, atol=1e-11
            )


def test_samples_are_those_of_the_data_set():
    from boundcheck.problems import digits

    p, samples = build(DIGIT), digits.load()
    assert p.features.shape == (1797, 65)
    assert (p.features[:, -1] == 1).all()
    ours = sorted(zip(map(tuple, p.features[:, :-1].tolist()), p.labels.tolist(), strict=True))
    theirs = sorted(
        zip(map(tuple, samples.features().tolist()), np.where(samples.labels == 8, 1.0, -1.0).tolist(), strict=True)
    )
    assert ours == theirs
    odd = build({**DIGIT, "positive": "odd", "intercept": False})
    assert odd.features.shape == (1797, 64)
    assert (odd.labels == 1).sum() == (samples.labels % 2 == 1).sum()


@pytest.mark.parametrize("spec", SPECS)
def test_weights_sizes_and_start(spec):
    p = build(spec)
    assert sum(p.weights) == 1
    assert p.weights == tuple(Fraction(s, len(p.labels)) for s in p.sizes)
    assert set(p.start) == {0}
    assert len(p.start) == p.dim
    assert clients_of(p).sizes == p.sizes
    again = build(p.spec)
    assert again.spec == p.spec
    np.testing.assert_array_equal(again.features, p.features)
    assert set(build(EQUAL).weights) == {Fraction(1, 7)}


@pytest.mark.parametrize("spec", [*SPECS, EQUAL])
def test_metrics_at_many_points_agree_with_the_definition(spec):
    p = build(spec)
    at = np.array(list(points(p, 5)))
    for name in p.metrics:
        np.testing.assert_allclose(p.metric_many(name, at), [p.metric(name, x) for x in at], rtol=1e-9)
    w = [float(v) for v in p.weights]
    for k, x in enumerate(at):
        full = sum(w[i] * p.gradient(i, x) for i in range(p.clients))
        assert p.metric_many("grad2", at)[k] == pytest.approx(full @ full, rel=1e-9)
    x = at[0]
    rows = [range(low, high) for low, high in itertools.pairwise(p.offsets)]
    value = sum(w[i] * math.fsum(sample_loss(p, j, x) for j in r) / len(r) for i, r in enumerate(rows))
    assert p.metric("gap", x) == pytest.approx(value - p.minimum.low, rel=1e-9)
    assert p.metric_many("gap", at[:0]).shape == (0,)
    with pytest.raises(UnknownName, match="metric 'gaps'"):
        p.metric("gaps", x)


@pytest.mark.parametrize("spec", [*SPECS, EQUAL])
def test_no_point_nearby_lies_below_the_certified_minimum(spec):
    p = build(spec)
    m = p.minimum
    assert m.low <= m.value
    assert m.value - m.low < 1e-11
    assert m.slope < 1e-11
    assert m.radius < 1e-8
    random = np.random.default_rng(3)
    near = m.point + 10.0 ** random.uniform(-10, -1, size=(40, 1)) * random.standard_normal((40, p.dim))
    assert (p.metric_many("gap", np.vstack([near, m.point])) >= 0).all()
    # strong convexity with the ridge, at the certified minimum: gap >= ridge/2 dist2
    dist2 = (near - m.point) ** 2 @ np.ones(p.dim)
    assert (p.metric_many("gap", near) >= float(p.ridge) / 2 * dist2 - 1e-14).all()


def test_the_certificate_is_honest_at_a_bad_point():
    p = build(CANCER)
    good = p.minimum
    for size in (1e-6, 1e-3, 1.0):
        bad = certify_minimum(p.objective, good.point + size * np.ones(p.dim))
        assert bad.low <= good.value
        assert bad.value >= good.low
        assert bad.radius >= np.linalg.norm(bad.point - good.point) - good.radius
        assert bad.value - bad.low > 100 * (good.value - good.low)


def test_a_minimum_known_by_hand():
    # features 1, 1, labels +1, -1: F(x) = (log(1 + e^-x) + log(1 + e^x))/2 + r x^2/2 is least at 0, where it is log 2
    o = Objective(np.ones((2, 1)), np.array([1.0, -1.0]), np.array([0.5, 0.5]), 0.25, Logistic())
    m = certify_minimum(o, minimise(o))
    assert abs(m.point[0]) <= m.radius < 1e-12
    assert m.low <= math.log(2) <= m.value
    # one sample, two classes: by symmetry X = (t, -t) with 1/(1 + e^(2t)) = t ridge, checked by bisection
    o = Objective(np.ones((1, 1)), np.array([0]), np.ones(1), 0.5, Softmax(2))
    low, high = 0.0, 2.0
    for _ in range(60):
        t = (low + high) / 2
        low, high = (t, high) if 1 / (1 + math.exp(2 * t)) > 0.5 * t else (low, t)
    np.testing.assert_allclose(minimise(o), [low, -low], atol=1e-13)


def test_the_way_for_large_dimensions_finds_the_same_minimum():
    p = build({**SOFTMAX, "clients": 3})
    other = certify_minimum(p.objective, _large(p.objective, np.zeros(p.dim)))
    assert other.slope < 1e-9
    assert np.linalg.norm(other.point - p.minimum.point) <= other.radius + p.minimum.radius


@pytest.mark.parametrize(
    "spec", [*SPECS, EQUAL, UNIT, UNIT_SOFTMAX, {**CANCER, "clients": 569}, {**CANCER, "clients": 1}]
)
def test_the_constants_hold_at_random_points(spec):
    p = build(spec)
    c = {name: float(k.value) for name, k in p.constants().items()}
    assert {k.known for k in p.constants().values()} <= {Known.EXACT, Known.CERTIFIED}
    w = np.array([float(v) for v in p.weights])
    sizes = np.array(p.sizes)
    random = np.random.default_rng(5)
    for x in points(p, 6 if p.clients < 100 else 2, seed=4):
        y = x + 10.0 ** random.uniform(-3, 1) * random.standard_normal(p.dim)
        samples = [sample_gradients(p, i, x) for i in range(p.clients)]
        moved = [sample_gradients(p, i, y) for i in range(p.clients)]
        g = np.array([s.mean(axis=0) for s in samples])
        h = np.array([s.mean(axis=0) for s in moved])
        full, full_y = w @ g, w @ h
        apart = np.linalg.norm(x - y)
        for s, t in zip(samples, moved, strict=True):
            assert np.linalg.norm(s - t, axis=1).max() <= c["L_ij"] * apart * (1 + 1e-9)
            assert ((s - t) @ (x - y)).min() >= c["mu_ij"] * apart**2 * (1 - 1e-6)
        assert np.linalg.norm(g - h, axis=1).max() <= c["L"] * apart * (1 + 1e-9)
        assert w @ (g**2).sum(axis=1) <= (c["G2"] + c["B2"] * full @ full) * (1 + 1e-9)
        relaxed = c["G2"] + 2 * c["L_ij"] * c["B2"] * (p.metric("gap", x) - (p.minimum.value - p.minimum.low))
        assert w @ (g**2).sum(axis=1) <= relaxed * (1 + 1e-9)
        similarity = np.linalg.norm(g - h - full + full_y, axis=1).max()
        assert similarity <= c["delta"] * apart + 1e-10
        variances = np.array([((s - s.mean(axis=0)) ** 2).sum(axis=1).mean() for s in samples])
        assert (variances @ np.ones(len(sizes))) / sizes.sum() <= c["noise2"] * (1 + 1e-9)
        for spread2, (P2, sigma2) in zip(variances, p.local_variances(), strict=True):
            assert P2 == 0
            assert spread2 <= float(sigma2) * (1 + 1e-9)
        # strong quasi-convexity towards the minimiser
        away = x - p.minimum.point
        assert full @ away >= (p.metric("gap", x) + c["mu"] / 2 * away @ away) * (1 - 1e-9) - 1e-9
    least = p.minimum.point
    slopes = [np.linalg.norm(p.gradient(i, least)) ** 2 for i in range(p.clients)]
    assert np.mean(slopes) <= c["sigma2"] * (1 + 1e-9) + 1e-25
    assert p.metric("gap", np.zeros(p.dim)) <= c["gap_0"] * (1 + 1e-12)
    assert least @ least <= c["dist2_0"]


@pytest.mark.parametrize(("spec", "curvature"), [(UNIT, Fraction(1, 4)), (UNIT_SOFTMAX, Fraction(1, 2))])
def test_unit_rows_have_length_1_and_the_direction_of_the_data(spec, curvature):
    p, plain = build(spec), build({k: v for k, v in spec.items() if k != "features"})
    np.testing.assert_allclose(np.linalg.norm(p.features, axis=1), 1, rtol=0, atol=4e-16)
    lengths = np.linalg.norm(plain.features, axis=1)
    np.testing.assert_allclose(p.features * lengths[:, None], plain.features, rtol=1e-15, atol=0)
    assert (p.labels == plain.labels).all()
    exact = curvature + Fraction(1, 10)
    assert exact <= p.constants()["L_ij"].value <= exact * (1 + Fraction(1, 10**11))
    assert p.constants()["mu_ij"].value == Fraction(1, 10)
    assert p.spec["features"] == "unit"
    assert "features" not in plain.spec
    assert plain.spec == build({**plain.spec, "features": "standardised"}).spec
    assert "rows of length 1" in p.name
    np.testing.assert_array_equal(build(p.spec).features, p.features)


def test_smoothness_constants_are_attained():
    # the Hessian of the logistic loss at 0 is a a'/4: L_ij and L are the best possible ones
    p = build(CANCER)
    step = 1e-6
    j = int(np.argmax((p.features**2).sum(axis=1)))
    a = p.features[j]
    client = int(np.searchsorted(p.offsets, j, side="right")) - 1
    k = j - p.offsets[client]
    moved = sample_gradients(p, client, step * a)[k] - sample_gradients(p, client, 0 * a)[k]
    assert np.linalg.norm(moved) / np.linalg.norm(step * a) == pytest.approx(
        float(p.constants()["L_ij"].value), rel=1e-6
    )
    tops = [
        np.linalg.eigvalsh(p.features[s:t].T @ p.features[s:t])[-1] / (t - s) for s, t in itertools.pairwise(p.offsets)
    ]
    assert float(p.constants()["L"].value) == pytest.approx(max(tops) / 4 + float(p.ridge), rel=1e-8)


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (3, 5), (200, 90), (40, 300)])
def test_the_largest_eigenvalue_is_bounded_from_above_and_tightly(shape):
    # small integers: the Gram matrix is exact, and so is the sign of det(t I - G) for t above the bound
    rows = np.random.default_rng(7).integers(-3, 4, size=shape).astype(np.float64)
    bound = largest_gram(rows)
    top = float(np.linalg.norm(rows, 2)) ** 2
    assert top * (1 - 1e-13) <= bound <= top * (1 + 1e-8)
    assert largest_gram(np.zeros(shape)) == 0
    same = np.ones(shape)  # rank one: exactly the product of the sides
    assert shape[0] * shape[1] <= largest_gram(same) <= shape[0] * shape[1] * (1 + 1e-8)


def test_one_client_differs_from_nobody():
    c = build({**CANCER, "clients": 1}).constants()
    assert (c["G2"].value, c["delta"].value) == (0, 0)
    assert build({**CANCER, "clients": 569}).constants()["noise2"].value == 0


@pytest.mark.parametrize("spec", [CANCER, SOFTMAX])
def test_assumptions_are_answered(spec):
    p = build(spec)
    own = {name: c.value for name, c in p.constants().items()}
    for name in (
        *("smooth_samples", "strongly_convex_samples", "convex_samples", "gradient_dissimilarity", "bounded_below"),
        *("relaxed_dissimilarity", "local_variance", "hessian_similarity", "convexity", "strong_quasi_convexity"),
        *("smooth_clients", "convex_clients", "finite_gradient_noise"),
    ):
        assert p.violations(name) is None
        assert p.decides(name, own) is True
    assert p.decides("smooth_samples", {"L_ij": own["L_ij"] * 2}) is True
    assert p.decides("smooth_samples", {"L_ij": own["L_ij"] / 2}) is None
    assert p.decides("strongly_convex_samples", {"mu_ij": own["mu_ij"] * 2}) is None
    assert p.decides("gradient_dissimilarity", {"G2": own["G2"]}) is None
    assert p.decides("unheard_of", {}) is None
    different = len(set(p.weights)) > 1
    assert (p.violations("plain_mean") is not None) == different
    assert "the problem is" in p.violations("instance:huber")
    with pytest.raises(UnknownName, match="assumption 'convex'"):
        p.violations("convex")


def test_the_found_point_is_kept_and_never_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("BOUNDCHECK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(_kept, "LONG", 0.0)
    asked: list[int] = []

    def compute():
        asked.append(1)
        return np.array([1.0, 2.0])

    key = {"kind": "test", "ridge": Fraction(1, 3)}
    for _ in range(2):
        assert _kept.recall(key, 2, compute, CODE).tolist() == [1, 2]
    assert len(asked) == 1
    (path,) = (tmp_path / "data" / "points").iterdir()
    for broken in (b"no archive", path.read_bytes()[:40]):
        path.write_bytes(broken)
        assert _kept.recall(key, 2, compute, CODE).tolist() == [1, 2]
    assert len(asked) == 3
    assert _kept.recall({**key, "ridge": 1}, 2, compute, CODE).tolist() == [1, 2]
    assert len(asked) == 4
    # a point of somebody else costs accuracy, not truth
    honest = build(CANCER).minimum
    monkeypatch.setattr(_kept, "recall", lambda key, dim, *more: np.full(dim, 0.1))
    spoiled = build(CANCER).minimum
    assert spoiled.low <= honest.value
    assert spoiled.radius > np.linalg.norm(spoiled.point - honest.point) - honest.radius


def test_a_kept_point_depends_on_the_objective_alone(monkeypatch):
    keys: list[str] = []

    def record(key, dim, *more):
        from boundcheck.core.digest import digest

        keys.append(digest(key))
        return np.zeros(dim)

    monkeypatch.setattr(_kept, "recall", record)
    specs = [CANCER, {**CANCER, "clients": 3}, {**CANCER, "ridge": 1}, EQUAL, {**EQUAL, "clients": 3}]
    specs.append({**CANCER, "features": "unit"})
    for spec in specs:
        _ = build(spec).minimum
    assert keys[0] == keys[1]  # weights by data: the split does not matter
    assert len(set(keys[1:])) == 5


@pytest.mark.parametrize(("clients", "equal"), [(1, True), (4, True), (4, False), (60, False)])
def test_the_bounds_agree_with_exact_arithmetic(clients, equal):
    # small whole numbers, so that the exact constants are of the very same rows
    random = np.random.default_rng(clients)
    rows, labels = random.integers(-4, 5, size=(60, 7)), random.choice([-1, 1], size=60)
    offsets = (0, *sorted(random.choice(np.arange(1, 60), clients - 1, replace=False).tolist()), 60)
    ends = list(itertools.pairwise(offsets))
    weights = [Fraction(1, clients) if equal else Fraction(t - s, 60) for s, t in ends]
    exact = [exactly.Labelled(matrix(rows[s:t].tolist()), labels[s:t].tolist()) for s, t in ends]
    loss = Logistic()
    residuals = (-labels / 2.0)[:, None]
    numbers = {"curvature": loss.curvature, "steepness2": loss.steepness2, "radius2": loss.radius2}
    ours = bounds(rows.astype(np.float64), offsets, weights, residuals, **numbers)

    def close(value: Fraction, known: Fraction) -> None:
        assert known <= value <= known * (1 + Fraction(1, 10**8))

    close(ours.sample, exactly.sample_smoothness(exact, Fraction(0)).value)
    for bound, client in zip(ours.clients, exact, strict=True):
        assert (
            client.norm.value / 4 * (1 - Fraction(1, 10**11))
            <= bound
            <= client.norm.value / 4 * (1 + Fraction(1, 10**8))
        )
    # the same inequalities put together in another order: neither is far from the other
    pairs = [
        (ours.G2, exactly.gradient_dissimilarity(exact, weights)[1].value),
        (ours.noise2, exactly.local_variance(exact)[2].value),
        (ours.delta, exactly.similarity(exact, weights).value),
    ]
    for value, known in pairs:
        assert known * Fraction(7, 10) <= value <= known * Fraction(14, 10)
