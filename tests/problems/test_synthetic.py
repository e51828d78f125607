"""synthetic(alpha, beta), its constants and the dissimilarity of its devices, against direct computations."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundcheck.certified.constant import Known
from boundcheck.errors import UnknownName
from boundcheck.problems import _kept
from boundcheck.problems._classifier import Classifier
from boundcheck.problems.build import build
from boundcheck.problems.synthetic import MODEL, SHARED, SIZE, Device, device, normals


def small(**more: Any) -> Classifier:
    found = build({"kind": "synthetic", "devices": 4, "max_samples": 40, "seed": 3, **more})
    assert isinstance(found, Classifier)
    return found


def client_gradients(p: Classifier, x: np.ndarray) -> list[np.ndarray]:
    """Per device, sample by sample with math.exp."""
    X, found = x.reshape(10, 61), []
    for low, high in itertools.pairwise(p.offsets):
        total = np.zeros((10, 61))
        for a, y in zip(p.features[low:high], p.labels[low:high], strict=True):
            scores = [math.fsum(row * a) for row in X]
            weights = [math.exp(s - max(scores)) for s in scores]
            shares = np.array(weights) / math.fsum(weights)
            shares[y] -= 1
            total += np.outer(shares, a)
        found.append(total.ravel() / (high - low) + float(p.ridge) * x)
    return found


def test_sizes_and_split() -> None:
    whole = device(0, 3, 1.0, 1.0, False, None)
    count = int(math.exp(4 + 2 * float(normals(3, SIZE, 0, 1)[0]))) + 50
    assert len(whole.train) + len(whole.test) == count
    assert len(whole.train) == int(0.9 * count)
    assert whole.train.shape[1] == 60
    p = small()
    assert p.sizes == (36,) * 4
    assert p.dim == 610
    assert np.all(p.features[:, 60] == 1)
    assert p.weights == (Fraction(1, 4),) * 4
    unequal = build({"kind": "synthetic", "devices": 3, "seed": 3})
    sizes = unequal.sizes  # pyright: ignore[reportAttributeAccessIssue]
    assert unequal.weights == tuple(Fraction(s, sum(sizes)) for s in sizes)
    assert len(set(sizes)) == 3


def test_the_draws_are_those_of_the_description() -> None:
    """Rows, centres and models of many devices have the means and variances that are asked for."""
    found = [device(k, 5, 2.0, 3.0, False, 60) for k in range(300)]
    rows = [np.concatenate([d.train, d.test]) for d in found]
    centres = np.array([r.mean(axis=0) for r in rows])
    # v_k[j] ~ N(b_k, 1), b_k ~ N(0, 3): variance over devices 10 (and that of the mean of 60 samples), 9 in common
    assert centres.var(axis=0).mean() == pytest.approx(10, rel=0.2)
    assert centres.mean(axis=1).var() == pytest.approx(9, rel=0.25)
    within = np.mean([r.var(axis=0, ddof=1) for r in rows], axis=0)
    assert within == pytest.approx(np.arange(1, 61) ** -1.2, rel=0.05)
    middles = np.array([normals(5, MODEL, k, 1)[0] for k in range(300)])
    assert middles.var() == pytest.approx(1, rel=0.25)


def test_labels_are_those_of_the_model() -> None:
    for iid in (False, True):
        d = device(2, 7, 1.0, 1.0, iid, 80)
        drawn = normals(7, MODEL, SHARED if iid else 2, 611)
        model = drawn[1:] + (0 if iid else drawn[0])
        scores = d.train @ model[:600].reshape(60, 10) + model[600:]
        assert np.array_equal(d.train_labels, scores.argmax(axis=1))
        assert abs(float(d.train.mean())) < (0.1 if iid else 10)


def test_a_device_depends_on_seed_and_number_alone() -> None:
    few, many = small(), small(devices=6)
    last = few.offsets[-1]
    assert np.array_equal(few.features, many.features[:last])
    assert np.array_equal(few.labels, many.labels[:last])
    assert not np.array_equal(few.features, small(seed=4).features)

    def rows(d: Device) -> set[bytes]:
        return {r.tobytes() for r in np.concatenate([d.train, d.test])}

    assert rows(device(1, 3, 1.0, 1.0, False, 40)) <= rows(device(1, 3, 1.0, 1.0, False, 52))
    again = build(json.loads(json.dumps(few.spec)))
    assert again.spec == few.spec
    assert np.array_equal(again.features, few.features)  # pyright: ignore[reportAttributeAccessIssue]


def test_constants_are_bounds_of_direct_computations() -> None:
    p = small()
    zero = np.zeros(p.dim)
    gradients = client_gradients(p, zero)
    mean = np.mean(gradients, axis=0)
    slope, parts = float(mean @ mean), sum(float(g @ g) for g in gradients) / 4
    c = p.constants()
    assert c["grad2_0"].side == "lower"
    assert float(c["grad2_0"].value) <= slope * (1 + 1e-13)
    assert float(c["grad2_0"].value) == pytest.approx(slope, rel=1e-9)
    assert c["B2_0"].side == "upper"
    assert c["B2_0"].known is Known.CERTIFIED
    assert float(c["B2_0"].value) >= parts / slope * (1 - 1e-13)
    assert float(c["B2_0"].value) == pytest.approx(parts / slope, rel=1e-9)
    grams = [p.features[a:b].T @ p.features[a:b] / (b - a) for a, b in itertools.pairwise(p.offsets)]
    tops = [float(np.linalg.eigvalsh(g)[-1]) for g in grams]
    assert float(c["L"].value) == pytest.approx(max(tops) / 2, rel=1e-4)
    whole = float(np.linalg.eigvalsh(sum(grams) / 4)[-1]) / 2
    assert whole <= float(c["L_f"].value) == pytest.approx(whole, rel=1e-4)
    assert c["L_f"].value <= c["L"].value
    assert c["lam"].value == 0
    # L is no overstatement by more than 5: the Hessian at 0 has the top eigenvalue tops/10
    hessian = p.objective.hessian(zero)
    assert np.linalg.eigvalsh(hessian)[-1] <= float(c["L_f"].value) <= 5.01 * np.linalg.eigvalsh(hessian)[-1]


def test_dissimilarity_along_a_trajectory() -> None:
    p, x = small(), np.zeros(610)
    step = 1 / float(p.constants()["L_f"].value)
    points = [x]
    for _ in range(200):
        points.append(points[-1] - step * p.objective.gradient(points[-1]))
    values = p.metric_many("B2", np.array(points))
    assert values[0] == pytest.approx(float(p.constants()["B2_0"].value), rel=1e-9)
    assert np.all(values >= 1)
    assert values[-1] > values[0]
    for at in (0, 100):
        gradients = client_gradients(p, points[at])
        mean = np.mean(gradients, axis=0)
        direct = sum(float(g @ g) for g in gradients) / 4 / float(mean @ mean)
        assert values[at] == pytest.approx(direct, rel=1e-9)
    assert p.metric("B2", points[100]) == values[100]
    with pytest.raises(UnknownName):
        p.metric("B3", x)


def test_iid_devices_are_more_alike() -> None:
    def B2(**more: Any) -> float:
        return float(build({"kind": "synthetic", "devices": 8, "max_samples": 60, **more}).constants()["B2_0"].value)

    assert 1 < B2(iid=True) < B2(alpha=0, beta=0)


def test_hypotheses() -> None:
    p = small()
    for name in ("lower_curvature", "client_smoothness", "dissimilarity_at_start", "convex_clients"):
        assert p.violations(name) is None
    with pytest.raises(UnknownName):
        p.violations("bounded_dissimilarity")
    own = p.constants()["B2_0"].value
    assert p.decides("dissimilarity_at_start", {"B2_0": own + 1}) is True
    assert p.decides("dissimilarity_at_start", {"B2_0": Fraction(1)}) is None


def test_two_sets_have_their_own_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[Any] = []
    kept = _kept.recall

    def spy(key: Any, *more: Any) -> Any:
        keys.append(key)
        return kept(key, *more)

    monkeypatch.setattr(_kept, "recall", spy)
    first, second = small(ridge="1/100"), small(ridge="1/100", alpha=0)
    for p in (first, second):
        assert p.minimum.slope < 1e-8
        assert p.minimum.value - p.minimum.low < 1e-9
    assert keys[0] != keys[1]  # a point that is kept in the data cache must not be taken for another set's


def test_dissimilarity_of_quadratics() -> None:
    p = build({"kind": "quadratics", "clients": [{"A": 2, "b": 2}, {"A": 4, "b": -4}], "start": [1]})
    x = np.array([Fraction(2)], dtype=object)  # slopes 2 and 12
    assert p.metric("B2", x) == Fraction(4 + 144, 2) / 49
    assert p.metric("B2", np.array([2.0])) == pytest.approx(74 / 49)
    assert p.metric("B2", np.array([Fraction(-1, 3)], dtype=object)) == math.inf
    assert p.violations("bounded_dissimilarity") is not None
    line = build({"kind": "feddane_1d"})
    assert line.constants()["B2_only"].value == 2
    assert line.metric("B2", np.array([Fraction(7)], dtype=object)) == 2
