"""The labelled data sets: contents, checksums, fetching, and least squares on them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from boundcheck.core.digest import digest
from boundcheck.errors import DataNotFetched
from boundcheck.problems import breast_cancer, digits
from boundcheck.problems.build import build


def test_breast_cancer_is_the_known_data_standardised():
    datasets = pytest.importorskip("sklearn.datasets")
    known, ours = datasets.load_breast_cancer(), breast_cancer.load()
    values = ours.features()
    assert values.shape == (569, 30)
    assert list(ours.names) == known.feature_names.tolist()
    assert list(ours.meanings) == known.target_names.tolist()
    np.testing.assert_array_equal(ours.labels, known.target)
    assert np.bincount(ours.labels).tolist() == [212, 357]
    expected = (known.data - known.data.mean(axis=0)) / known.data.std(axis=0)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert ours.rows[5][7] == Fraction(int(ours.numbers[5, 7]), 10**6)
    assert set(ours.target) == {Fraction(1), Fraction(-1)}


def test_digits_are_the_known_data_over_16():
    datasets = pytest.importorskip("sklearn.datasets")
    known, ours = datasets.load_digits(), digits.load()
    np.testing.assert_array_equal(ours.features() * 16, known.data)
    np.testing.assert_array_equal(ours.labels, known.target)
    assert list(ours.names) == list(known.feature_names)
    assert (ours.count, ours.classes) == (1797, 10)
    assert all(v.denominator in (1, 2, 4, 8, 16) for v in ours.rows[100])
    # the target is an increasing affine function of the digit, with mean 0 and variance 1 to six decimals
    target = np.array([float(v) for v in ours.target])
    np.testing.assert_allclose([target.mean(), target.std()], [0, 1], atol=1e-6)
    assert len(set(zip(ours.labels.tolist(), ours.target, strict=True))) == 10


@pytest.mark.parametrize("module", [breast_cancer, digits])
def test_other_files_are_refused(module, monkeypatch):
    monkeypatch.setattr(module, "FILES", dict.fromkeys(module.FILES, "0" * 64))
    with pytest.raises(DataNotFetched, match=r"not the expected 0000.*pip install scikit-learn"):
        module.load.__wrapped__()


# --- least squares -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "57f8596495ce0bbd"),
        ({"split": "sorted"}, "f2950706b419761b"),
        ({"split": "sorted", "feature": "age", "clients": 7}, "2666b364cced6db6"),
        ({"seed": 5, "loss": "sum"}, "8d08dd9d16ae2e31"),
        ({"start": ["1/2"] * 10}, "36f1486db402e38b"),
    ],
)
def test_specifications_of_the_first_release_keep_their_digests(more, expected):
    assert digest(build({"kind": "least_squares", "data": "diabetes", **more}).spec).startswith(expected)


def test_ridge_and_weights_of_least_squares_by_hand():
    plain = {"kind": "least_squares", "data": "breast_cancer", "clients": 3, "imbalance": 1, "loss": "half_mean"}
    without, ridged = build(plain), build({**plain, "ridge": "1/3", "weights": "data"})
    assert without.weights == (Fraction(1, 3),) * 3
    assert ridged.weights == tuple(Fraction(len(rows), 569) for rows in ridged.rows)
    assert len(set(ridged.sizes)) == 3
    x = np.array([Fraction(k, 7) for k in range(30)], dtype=object)
    for i in range(3):
        assert (ridged.gradient(i, x) - without.gradient(i, x) == x / 3).all()
    summed = build({**plain, "ridge": "1/3", "loss": "half_sum"})
    added = summed.gradient(1, x) - build({**plain, "loss": "half_sum"}).gradient(1, x)
    assert (added == x * Fraction(summed.sizes[1], 3)).all()
    assert ridged.constants()["mu"].value >= Fraction(1, 3)
    assert ridged.constants()["mu_ij"].value == Fraction(1, 3)
    longest = max(sum(v * v for v in row) for rows in ridged.rows for row in rows)
    assert ridged.constants()["L_ij"].value == longest + Fraction(1, 3)
    assert build(ridged.spec).spec == ridged.spec


@pytest.mark.parametrize("loss", ["half_mean", "sum"])
def test_the_layout_with_a_ridge_gives_the_same_gradients(loss):
    spec = {"kind": "least_squares", "data": "digits", "clients": 12, "split": "shards", "ridge": "1/5", "loss": loss}
    p = build(spec)
    layout = p.arrays()
    x = np.linspace(-1, 1, 64)
    for i in (0, 11):
        part = slice(layout.offsets[i], layout.offsets[i + 1])
        each = layout.A[part] @ x - layout.b[part]
        total = each.mean(axis=0) if layout.reduction == "mean" else each.sum(axis=0)
        np.testing.assert_allclose(total, p.gradient(i, x), rtol=1e-11, atol=1e-11)


def test_least_squares_on_labelled_data_sorts_by_label():
    p = build({"kind": "least_squares", "data": "digits", "clients": 10, "split": "sorted"})
    ends = [(min(t), max(t)) for t in p.targets]
    assert all(high <= low for (_, high), (low, _) in itertools.pairwise(ends))
